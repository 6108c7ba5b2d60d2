// Each create creates another one.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') return $app.records.create('orders', { title: 'go' }).then(() => {});
});
