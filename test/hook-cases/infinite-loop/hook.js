// A loop that never yields.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') { for (;;); }
});
