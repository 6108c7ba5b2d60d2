// The memory that long pages take: of the share of their workspace, in pieces, and only for a client that is there.
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { listRecords } from '../../../api/records/list.ts';
import { PageMemory, type PageRequester, withPageMemory } from '../../../api/records/page-memory.ts';
import { unboundedAccess } from '../../../api/rules/access.ts';
import { pageBudget } from '../../../api/usage/page-budget.ts';
import { ByteBudget } from '../../../storage/concurrency/byte-budget.ts';
import { type BareApp, bareApp } from '../../harness/bare-app.ts';

const share = 3_100_000;
const text = 'x'.repeat(500_000);
const page = { page: 1, per_page: 6, count: true };

let app: BareApp;
let budget: ByteBudget;
/** How often a page has rested between two of its pieces. */
let rests: number;

beforeAll(async () => {
  app = await bareApp();
  await app.define('long', [{ name: 'text', kind: 'text' }]);
  await app.define('short', [{ name: 'text', kind: 'text' }]);
  for (let made = 0; made < 6; made++) {
    await app.create('long', { text });
    await app.create('short', { text: 'short' });
  }
});
afterAll(() => app.end());

beforeEach(() => {
  rests = 0;
  budget = open(60_000);
});

function open(timeoutMs: number): ByteBudget {
  const refuse = (owner: string) => new Error(`${owner} has waited`);
  return new ByteBudget({ total: share * 2, share, timeoutMs, refuse });
}

/** A request, and what ends it. */
function request(isDisconnected = () => false): PageRequester & { end(): void } {
  let listener: () => void = () => undefined;
  return { isDisconnected, onEnd: (added) => void (listener = added), end: () => listener() };
}

async function list(collection: string, requester: PageRequester): Promise<unknown[]> {
  const lull = () => {
    rests++;
    return undefined;
  };
  const memory = new PageMemory({ pageBytes: budget, traffic: { lull } }, 'acme', requester);
  const access = unboundedAccess('list', new Date());
  const { items } = await listRecords(app.deps, await app.target(collection), { access, page, memory });
  return items.map(({ fields }) => fields['text']);
}

const isFree = () => {
  const isTaken = budget.tryAcquire('acme', share);
  if (isTaken) budget.release('acme', share);
  return isTaken;
};

it('a long page takes memory until its response has been sent, and comes in pieces once it is known to be long', async () => {
  for (const pieces of [0, 3]) {
    const requester = request();
    expect(await list('long', requester)).toEqual(Array(6).fill(text));
    expect(isFree()).toBe(false);
    requester.end();
    expect(isFree()).toBe(true);
    expect(rests).toBe(pieces);
  }
});

it('records that are sent to nobody take memory for as long as they are worked on', async () => {
  const traffic = { lull: () => undefined };
  await withPageMemory({ pageBytes: budget, traffic }, 'acme', async (memory) => {
    const access = unboundedAccess('list', new Date());
    const { items } = await listRecords(app.deps, await app.target('long'), { access, page, memory });
    expect(items).toHaveLength(6);
    expect(isFree()).toBe(false);
  });
  expect(isFree()).toBe(true);
});

it('a short page takes none', async () => {
  expect(budget.tryAcquire('acme', share)).toBe(true);
  expect(await list('short', request())).toHaveLength(6);
});

it('a page waits for the memory of others of its workspace only, and is read again when it was longer than expected', async () => {
  await app.define('longer', [{ name: 'text', kind: 'text' }]);
  await app.create('longer', { text });
  expect(budget.tryAcquire('acme', share)).toBe(true);
  expect(budget.tryAcquire('other', share - 1)).toBe(true);
  const waits = vi.spyOn(budget, 'acquire');
  const first = request();
  const pages = [list('longer', first)];
  // It has been read once: nothing was known of its length.
  await vi.waitFor(() => expect(waits).toHaveBeenCalledWith('acme', share));
  pages.push(list('long', request()));
  await vi.waitFor(() => expect(waits).toHaveBeenCalledTimes(2));
  budget.release('acme', share);
  expect(await pages[0]).toEqual([text]);
  first.end();
  expect(await pages[1]).toHaveLength(6);
});

it('a page for which there is no memory in time is refused', async () => {
  budget = open(1);
  expect(budget.tryAcquire('acme', share)).toBe(true);
  await expect(list('long', request())).rejects.toThrow('acme has waited');
});

it('a client that has gone ends the statement between two pieces, and all that was fetched is given up', async () => {
  let asked = 0;
  const requester = request(() => ++asked > 2);
  await expect(list('long', requester)).rejects.toMatchObject({ message: 'the client has disconnected' });
  expect(rests).toBeLessThan(3);
  expect(isFree()).toBe(true);
  expect(await list('short', request())).toHaveLength(6);
});

it('of all workspaces has 256 MiB, of one a quarter; who has waited ten seconds may try again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const notes: unknown[] = [];
    const pages = pageBudget({ spentShares: { note: (spent) => void notes.push(spent) } });
    for (const workspace of ['a', 'b', 'c', 'd']) {
      expect(pages.tryAcquire(workspace, 64 * 1_048_576 + 1)).toBe(false);
      expect(pages.tryAcquire(workspace, 64 * 1_048_576)).toBe(true);
    }
    expect(pages.tryAcquire('e', 1)).toBe(false);
    const refused = expect(pages.acquire('a', 1)).rejects.toMatchObject({
      code: 'unavailable',
      headers: [['Retry-After', '1']],
    });
    vi.advanceTimersByTime(10_000);
    await refused;
    expect(notes).toEqual([{ share: 'memory of pages', workspace: 'a' }]);
  } finally {
    vi.useRealTimers();
  }
});
