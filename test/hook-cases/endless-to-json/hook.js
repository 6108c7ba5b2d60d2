// A value that takes for ever to be told.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  e.record.fields.meta = {
    toJSON: () => {
      for (;;);
    },
  };
});
