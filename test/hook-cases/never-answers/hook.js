// A promise that nobody keeps.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') return new Promise(() => {});
});
