// The export of an audit log as JSON Lines: read page by page as fast as the client takes it, so it needs little memory.
import type { ServerResponse } from 'node:http';
import { type AuditEntry, type AuditQuery, listAuditBefore } from '../../storage/audit/listing.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { drained } from '../http/drained.ts';
import { notStored, writeHead } from '../http/response-headers.ts';
import type { Deps } from '../deps.ts';
import { RawResponse } from '../contract/route.ts';

const pageSize = 100;

/** Responds with every entry that matches, one a line, newest first. Throws `503 unavailable` before anything is sent. */
export function exportAudit(
  { observe }: Pick<Deps, 'observe'>,
  connection: Connection,
  query: AuditQuery,
): RawResponse {
  const readPage = (before?: string) =>
    connection.run((sql) => listAuditBefore(sql, query, { before, limit: pageSize }));
  return new RawResponse(async ({ response, headers }) => {
    const first = await readPage();
    writeHead(response, 200, [...headers, ['Content-Type', 'application/x-ndjson'], notStored]);
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    send(response, first, readPage).catch((error: unknown) => {
      // Destroyed, not ended: the client must see that the log is incomplete.
      response.destroy();
      observe({ type: 'background_failed', task: 'export an audit log', error: String(error) });
    });
  });
}

async function send(
  response: ServerResponse,
  first: readonly AuditEntry[],
  readPage: (before: string) => Promise<AuditEntry[]>,
): Promise<void> {
  for (let entries = first; !response.destroyed;) {
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    if (lines !== '' && !response.write(lines)) await drained(response);
    const last = entries.at(-1);
    if (last === undefined || entries.length < pageSize) break;
    entries = await readPage(last.id);
  }
  response.end();
}
