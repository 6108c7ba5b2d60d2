// There are no signals to ignore, and SIGKILL is what a runner gets.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  Deno.addSignalListener('SIGTERM', () => {});
  for (;;);
});
