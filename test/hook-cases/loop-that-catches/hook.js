// A loop that swallows whatever could end it.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  for (;;) {
    try {
      for (;;);
    } finally {
      // deno-lint-ignore no-unsafe-finally
      continue;
    }
  }
});
