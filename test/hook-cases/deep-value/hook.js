// A value too deep for JSON.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  let value = 1;
  for (let depth = 0; depth < 200_000; depth++) value = [value];
  e.record.fields.meta = value;
});
