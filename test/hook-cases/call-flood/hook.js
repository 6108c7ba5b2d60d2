// More calls of the server than one run may make.
onRecordBeforeCreate('orders', async (e) => {
  if (e.record.fields.title !== 'go') return;
  await Promise.all(Array.from({ length: 5_000 }, () => $app.records.list('orders', {})));
});
