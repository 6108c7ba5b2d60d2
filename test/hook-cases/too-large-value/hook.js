// More than a result may hold.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') e.record.fields.meta = 'x'.repeat(2 * 1024 * 1024);
});
