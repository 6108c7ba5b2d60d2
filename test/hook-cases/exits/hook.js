// There is nothing to exit with.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title === 'go') Deno.exit(1);
});
