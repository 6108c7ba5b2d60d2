// There is nothing to start a process with.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') return import('node:child_process');
});
