// A promise that nobody looks at fails. The write is done all the same.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') Promise.reject(new Error('nobody looks'));
});
