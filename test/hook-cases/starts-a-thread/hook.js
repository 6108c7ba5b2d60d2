// There are no threads to start.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') new Worker('data:text/javascript,for(;;);', { type: 'module' });
});
