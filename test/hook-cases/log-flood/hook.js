// More lines than anyone will read. The write is done all the same.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  for (let line = 0; line < 20_000; line++) console.log('x'.repeat(1000));
});
