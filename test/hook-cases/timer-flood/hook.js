// Timers without end.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  for (;;) setTimeout(() => {}, 60_000);
});
