// Promises that keep the event loop from turning.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  const again = () => Promise.resolve().then(again);
  return again();
});
