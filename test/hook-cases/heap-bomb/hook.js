// Ordinary objects without end.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  const kept = [];
  for (;;) kept.push({ a: [1, 2, 3], b: 'x'.repeat(100) + kept.length });
});
