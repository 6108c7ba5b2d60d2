// An answer that comes when nobody waits for it any more. The write after it ends later still.
let late;
onRecordBeforeCreate('orders', async (e) => {
  if (e.record.fields.title !== 'go') return await late;
  late = new Promise((resolve) => setTimeout(resolve, 2_000));
  await late;
  e.record.fields.title = 'late';
});
