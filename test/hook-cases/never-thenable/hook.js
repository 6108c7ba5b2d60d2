// Something like a promise, whose end calls for another, and another.
const again = { then: (resolve) => resolve(again) };
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') return again;
});
