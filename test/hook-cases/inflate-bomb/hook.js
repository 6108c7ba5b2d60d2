// Zeros that compress well, taken apart again and again.
onRecordBeforeCreate('orders', (e) => {
  if (e.record.fields.title !== 'go') return;
  return (async () => {
    const zeros = new Uint8Array(4 * 1024 * 1024);
    const kept = [];
    for (;;) {
      const packed = new Blob([zeros]).stream().pipeThrough(new CompressionStream('gzip'));
      kept.push(await new Response(packed.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
    }
  })();
});
