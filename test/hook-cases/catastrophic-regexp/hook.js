// A regular expression that backtracks for years.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') return /^(a+)+$/.test('a'.repeat(60) + 'b');
});
