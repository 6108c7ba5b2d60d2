// Memory outside of V8's heap; at the limit an allocation throws or the process dies.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  const kept = [];
  for (;;) kept.push(new Uint8Array(16 * 1024 * 1024).fill(1));
});
