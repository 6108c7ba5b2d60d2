// A file that never comes to its end is left out, and with it what it has registered.
onRecordBeforeCreate('orders', () => false);
await new Promise(() => {});
