// Built-ins are replaced by ones that lie.
const lie = () => '{"forged":true}';
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  JSON.stringify = lie;
  JSON.parse = lie;
  Promise.prototype.then = lie;
  Map.prototype.get = lie;
  Object.prototype.toJSON = lie;
});
