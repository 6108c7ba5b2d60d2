// A function that calls itself without end.
const deeper = (n) => deeper(n + 1) + 1;
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') deeper(0);
});
