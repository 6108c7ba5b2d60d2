// Exporting records: all that pass a filter, read piece by piece as fast as the client takes them.
import type { ServerResponse } from 'node:http';
import { RowsTooLarge } from '../../../storage/app/records/row-budget.ts';
import type { RecordPlan, StoredRecord } from '../../../storage/app/records/plan.ts';
import { shownFields } from '../../../storage/workspace/identities.ts';
import { RawResponse } from '../../contract/route.ts';
import type { Deps } from '../../deps.ts';
import { fail } from '../../errors.ts';
import { drained } from '../../http/drained.ts';
import { notStored, writeHead } from '../../http/response-headers.ts';
import type { Access } from '../../rules/access.ts';
import { onCollection, type RecordDeps, type RecordScope, type RecordTarget } from '../collection.ts';
import { namesIn, readFields } from '../input/selection.ts';
import { selectedBy } from '../list.ts';
import { withPageMemory } from '../page-memory.ts';
import { readPage } from '../read.ts';
import { ownMembers, type RecordLines, recordLines, type TransferFormat, transferTypes } from './lines.ts';

/** The records to export, and how. */
export interface RecordExport {
  access: Access;
  format: TransferFormat;
  fields?: string | undefined;
  filter?: string | undefined;
  /** Throws when the caller may no longer read. Called for each piece. */
  requireCaller: () => void;
}

type ExportDeps = RecordDeps & Pick<Deps, 'observe' | 'pageBytes' | 'traffic'>;

/** A piece of an export, with what it needs to go on. */
interface Piece {
  plan: RecordPlan;
  records: readonly StoredRecord[];
  hasMore: boolean;
}

/** The bytes that a piece has, about; and its records. */
const pieceBytes = 1_048_576;
const pieceRows = 1_000;
/** The budget of one record. */
const maxBytes = 64 * 1_048_576;

/**
 * Responds with the records that pass rule and filter, one a line, in the order of their ids. A record that is written meanwhile
 * is shown as it is when its turn comes. Throws what a list throws, before anything is sent.
 */
export function exportRecords(deps: ExportDeps, target: RecordTarget, query: RecordExport): RawResponse {
  return new RawResponse(async ({ response, headers, reserveFile }) => {
    const first = await readPiece(deps, target, query);
    const writer = recordLines(query.format, membersOf(first.plan, query.fields));
    writeHead(response, 200, [
      ...headers,
      ['Content-Type', transferTypes[query.format]],
      ['Content-Disposition', `attachment; filename="${target.collection.id}.${query.format}"`],
      notStored,
    ]);
    if (response.req.method === 'HEAD') return void response.end();
    reserveFile();
    const next = (after: string) => readPiece(deps, target, query, { plan: first.plan, after });
    send(response, writer, { first, next }).catch((error: unknown) => {
      // Destroyed, not ended: the client must see that the export is incomplete.
      response.destroy();
      deps.observe({ type: 'background_failed', task: 'export records', error: String(error) });
    });
  });
}

async function send(
  response: ServerResponse,
  writer: RecordLines,
  { first, next }: { first: Piece; next: (after: string) => Promise<Piece> },
): Promise<void> {
  response.write(writer.head);
  for (let piece = first; !response.destroyed;) {
    response.write(piece.records.map((record) => writer.line(record)).join(''));
    await drained(response);
    const last = piece.records.at(-1);
    if (last === undefined || !piece.hasMore) break;
    piece = await next(last.id);
  }
  response.end();
}

/** Reads a piece; with a position, the one after it. */
async function readPiece(
  deps: ExportDeps,
  target: RecordTarget,
  { access, fields, filter, requireCaller }: RecordExport,
  position?: { plan: RecordPlan; after: string },
): Promise<Piece> {
  requireCaller();
  return await onCollection(deps, target, async (scope) => {
    const { plan } = scope;
    if (position !== undefined && plan !== position.plan) {
      fail('conflict', 'the collection has changed meanwhile');
    }
    readFields(plan, fields);
    const reading = { ...selectedBy(access, scope.target, filter), after: position?.after };
    const limit = Math.max(1, Math.floor(pieceBytes / plan.weights.list.bytes));
    try {
      return await readRows(deps, scope, {
        ...reading,
        limit: Math.min(limit, pieceRows),
        maxBytes: 8 * pieceBytes,
      });
    } catch (error) {
      if (!(error instanceof RowsTooLarge)) throw error;
      return await readRows(deps, scope, { ...reading, limit: 1, maxBytes });
    }
  });
}

/** Reads so many records at most. Throws `RowsTooLarge`. */
async function readRows(
  deps: ExportDeps,
  scope: RecordScope,
  { after, limit, maxBytes, ...selected }: ReturnType<typeof selectedBy> & {
    after: string | undefined;
    limit: number;
    maxBytes: number;
  },
): Promise<Piece> {
  const { plan, target: { app } } = scope;
  const weight = plan.weights.list;
  const position = after === undefined ? undefined : { values: [], id: after };
  return await withPageMemory(deps, app.workspace.id, (memory) =>
    memory.read(weight, limit, async () => {
      const slice = { sort: [], limit, offset: 0, after: position, maxBytes, memory };
      const { records, hasMore } = await readPage(deps, scope, { ...selected, slice, counted: false });
      memory.noteRows(weight);
      return { plan, records, hasMore };
    }));
}

/** The members of a line: those that are asked for in the order of the collection, and the id. */
function membersOf(plan: RecordPlan, fields: string | undefined): string[] {
  const shown = plan.isProfile ? shownFields : [];
  const all = [
    ...ownMembers,
    ...plan.fields.map(({ field }) => field.name),
    ...shown.map(({ name }) => name),
  ];
  const wanted = new Set(namesIn(fields));
  return wanted.size === 0 ? all : all.filter((name) => name === 'id' || wanted.has(name));
}
