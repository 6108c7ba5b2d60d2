// The bench of full-text search: lists by rank, of words as frequent as in texts, and of words with typing errors.
import postgres from 'postgres';
import { ownerRole } from '../../storage/sql/ids.ts';
import { request } from './client.ts';
import { locateApp } from './control.ts';
import type { Figure, Findings } from './findings.ts';
import { makeAppAdmin, makeWorkspace, type Stage, withStage } from './stage.ts';
import { percentile, spread } from './statistics.ts';

const goal = 50;
/** Different words of all records; the frequency of each is that of its place, as in Zipf's law. */
const vocabulary = 50_000;
const batch = 10_000;
const searches = 200;

/** Of so many records, each of 25 words; `rounds` times other searches. */
export async function benchSearch({ rows, rounds }: { rows: number; rounds: number }): Promise<Findings> {
  return await withStage(async (stage) => {
    const workspace = await makeWorkspace(stage, 'bench');
    const token = await makeAppAdmin(stage, workspace);
    const collections = `${stage.server.url}${workspace}/apps/shop/collections`;
    const fields = ['title', 'body'].map((name) => ({ name, kind: 'text', search: true }));
    await request(collections, { method: 'POST', token, body: { schema: { id: 'texts', fields } } });
    const random = randomNumbers(7);
    await fill(stage, rows, random);
    const figures: Figure[] = [];
    for (const [name, write] of kinds) {
      const queries = Array.from({ length: searches }, () => write(random));
      const url = (query: string) => `${collections}/texts/records?per_page=30&sort=-@rank&search=${query}`;
      const p95 = [];
      for (let round = 0; round < rounds; round++) {
        const times = [];
        for (const query of queries) times.push(await timed(url(query), token));
        p95.push(percentile(times, 0.95));
      }
      const ours = spread(p95);
      const text = `at most ${goal} ms`;
      figures.push({ name: `p95 ${name}`, unit: 'ms', ours, goal: { text, reached: ours.median <= goal } });
    }
    return {
      bench: 'search',
      title: `the best 30 of ${
        rows.toLocaleString('en')
      } records, with their total, for ${searches} searches`,
      figures,
    };
  });
}

type Random = () => number;

const kinds: readonly (readonly [string, (random: Random) => string])[] = [
  [
    'of one to three words, as frequent as in the texts',
    (random) => some(1 + Math.floor(random() * 3), random),
  ],
  ['of the beginning of a word', (random) => word(random).slice(0, 4)],
  ['of a word with a typing error', (random) => misspelt(random)],
];

async function timed(url: string, token: string): Promise<number> {
  const began = performance.now();
  await request(url, { token });
  return performance.now() - began;
}

/** Numbers from 0 to 1, the same in every run (mulberry32). */
function randomNumbers(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const syllables = [...'bcdfghjklmnprstvz'].flatMap((letter) => [...'aeiou'].map((vowel) => letter + vowel));

/** A word of two to four syllables, the same for the same place. */
function spell(place: number): string {
  const random = randomNumbers(place);
  const length = 2 + Math.floor(random() * 3);
  return Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)]).join('');
}

function word(random: Random): string {
  return spell(Math.floor(Math.exp(random() * Math.log(vocabulary))));
}

function some(count: number, random: Random): string {
  return Array.from({ length: count }, () => word(random)).join(' ');
}

/** With two letters where there was one. */
function misspelt(random: Random): string {
  const right = word(random);
  const at = 1 + Math.floor(random() * (right.length - 1));
  return `${right.slice(0, at)}x${right.slice(at)}`;
}

/** Writes the records as the owner of the table. */
async function fill({ server }: Stage, rows: number, random: Random): Promise<void> {
  const { host, port, database, username, password, schema } = await locateApp(
    server.dataDir,
    'bench',
    'shop',
    ownerRole,
  );
  const sql = postgres({ host, port, database, username, password, max: 1 });
  const table = sql(`${schema}.texts`);
  try {
    await sql`set statement_timeout = 0`;
    await sql`set transaction_timeout = 0`;
    for (let from = 0; from < rows; from += batch) {
      const texts = Array.from(
        { length: Math.min(batch, rows - from) },
        () => [some(5, random), some(20, random)],
      );
      await sql`
        insert into ${table} (id, title, body, created_at, updated_at)
        select uuidv7(), text ->> 0, text ->> 1, now(), now()
        from jsonb_array_elements(${JSON.stringify(texts)}::text::jsonb) as text`;
    }
    await sql`analyze ${table}`;
  } finally {
    await sql.end();
  }
}
