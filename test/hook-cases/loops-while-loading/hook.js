// A file that keeps its process from doing anything else is left out.
onRecordBeforeCreate('orders', () => false);
for (;;);
