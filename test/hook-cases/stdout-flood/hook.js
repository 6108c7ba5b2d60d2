// There is no standard output: what `console` writes goes to the log, and only so much of it.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  for (;;) Deno.stdout.writeSync(new Uint8Array(65_536));
});
