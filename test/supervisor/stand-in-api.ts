// A program that says to the supervisor what an API process says, so that the supervisor is tested alone.
// What it does wrong is told by `auth.issuer`, a setting the supervisor has no interest in.
import { createServer } from 'node:http';
import type { FromApi, ToApi } from '../../supervisor/protocol.ts';

function tell(message: FromApi): void {
  process.send?.(message);
}

process.on('message', (message: ToApi) => {
  if (message.type === 'stop') process.exit(0);
  if (message.type === 'ping') tell({ type: 'pong' });
  if (message.type !== 'start') return;
  const { config, worker, database, masterKey } = message;
  const behaviour = config.auth.issuer;
  if (behaviour === 'fails') return tell({ type: 'failed', message: 'the database is too old' });
  if (behaviour === 'crashes') process.exit(3);
  const body = JSON.stringify({
    environment: Object.keys(process.env),
    worker,
    database,
    masterKey,
    pid: process.pid,
  });
  const server = createServer((_, response) => void response.end(body));
  server.listen({ port: config.http.port, host: '127.0.0.1', reusePort: config.api.workers > 1 }, () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    tell({ type: 'progress', message: `worker ${worker} listens` });
    tell({ type: 'ready', url: `http://127.0.0.1:${port}`, initialized: false });
  });
});
