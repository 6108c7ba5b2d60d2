// The audit log as JSON Lines: read in pieces, sent as fast as the client takes them, so that its size costs no memory.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AuditEntry, type AuditQuery, listAuditBefore } from '../../storage/audit/listing.ts';
import type { Connection } from '../../storage/connections/pool.ts';
import { notStored, writeHead } from '../http/response-headers.ts';
import type { Deps } from '../deps.ts';
import { RawResponse } from '../contract/route.ts';

const pageSize = 100;
/** A client that takes nothing for so long is gone. */
const stallMs = 60_000;

/** Answers with one entry a line, newest first, all that match. Throws `503 unavailable` before anything is sent. */
export function exportAudit(
  { observe }: Pick<Deps, 'observe'>,
  connection: Connection,
  question: AuditQuery,
): RawResponse {
  const piece = (before?: string) =>
    connection.run((sql) => listAuditBefore(sql, question, { before, limit: pageSize }));
  return new RawResponse(async ({ response, headers }) => {
    const first = await piece();
    writeHead(response, 200, [...headers, ['Content-Type', 'application/x-ndjson'], notStored]);
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    send(response, first, piece).catch((error: unknown) => {
      // Cut off, not ended: a log that is not whole must not look as if it were.
      response.destroy();
      observe({ type: 'background_failed', task: 'export an audit log', error: String(error) });
    });
  });
}

async function send(
  response: ServerResponse,
  first: readonly AuditEntry[],
  piece: (before: string) => Promise<AuditEntry[]>,
): Promise<void> {
  for (let entries = first; !response.destroyed;) {
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    if (lines !== '' && !response.write(lines)) await drained(response);
    const last = entries.at(-1);
    if (last === undefined || entries.length < pageSize) break;
    entries = await piece(last.id);
  }
  response.end();
}

/** Returns as well when the client is gone, or taken for it. */
async function drained(response: ServerResponse): Promise<void> {
  const patience = new AbortController();
  const timer = setTimeout(() => response.destroy(), stallMs);
  await Promise.race([
    once(response, 'drain', { signal: patience.signal }),
    once(response, 'close', { signal: patience.signal }),
  ]).finally(() => {
    clearTimeout(timer);
    patience.abort();
  });
}
