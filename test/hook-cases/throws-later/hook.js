// A timer throws after the write.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') {
    setTimeout(() => {
      throw new Error('too late');
    }, 1);
  }
});
