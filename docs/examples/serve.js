// Serves the example pages on http://localhost:3000 (or the port given), as any web server for static files would.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const pages = new Map([
  ['/auth/', { file: 'auth/index.html', type: 'text/html' }],
  ['/realtime/', { file: 'realtime/index.html', type: 'text/html' }],
  ['/request.js', { file: 'request.js', type: 'text/javascript' }],
]);

const server = createServer(async ({ url = '/' }, response) => {
  const page = pages.get(new URL(url, 'http://localhost').pathname);
  if (page === undefined) {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('try /auth/ or /realtime/\n');
    return;
  }
  const text = await readFile(new URL(page.file, import.meta.url));
  response.writeHead(200, { 'Content-Type': `${page.type}; charset=utf-8`, 'Cache-Control': 'no-cache' }).end(
    text,
  );
});

server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  console.log(`http://localhost:${server.address().port}`);
});
