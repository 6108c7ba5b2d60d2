// Blobs without end.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  const kept = [];
  const part = 'x'.repeat(8 * 1024 * 1024);
  for (;;) kept.push(new Blob([part]));
});
