// A value that holds itself.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  const value = {};
  value.self = value;
  e.record.fields.meta = value;
});
