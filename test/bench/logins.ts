// Logins: how many a second, what a storm of them leaves of record reads, and what the time of a response gives away.
import { randomUUID } from 'node:crypto';
import type { Figure, Findings } from './findings.ts';
import { type HashMaker, rawHashRate } from './hash-rate.ts';
import { renderRequest, startGenerator } from './load.ts';
import { type RecordStage, withRecords } from './stage.ts';
import { percentile, spread } from './statistics.ts';
import { readBesideStorms, stormFigures } from './storms.ts';

const password = 'a long password of the bench';
const storm = 200;
const makers: readonly HashMaker[] = ['hash-wasm', 'node:crypto'];
const auth = '/api/workspaces/bench/auth';

/** Rounds, how long the reads of one are without a storm and with one, and how many tries are timed. */
export interface LoginPace {
  rounds: number;
  seconds: number;
  tries: number;
}

/** All of it on one server, with an end-user for each try. */
export async function benchLogins(pace: LoginPace): Promise<Findings> {
  return await withRecords(async (stage) => {
    const emails = Array.from(
      { length: Math.max(pace.tries, storm) },
      (_, index) => `user${index}@example.com`,
    );
    for (const email of emails) {
      const status = await post(stage, `${auth}/users/register`, { email, password });
      if (status !== 201) throw new Error(`registering answered ${status}`);
    }
    const storms = await readBesideStorms(stage, loginsOf(emails).slice(0, storm), pace);
    const rate = await loginRate(stage, emails, pace);
    const timing = await timingOf(stage, emails, pace);
    return {
      bench: 'logins',
      title:
        'logins a second, record reads (200 a second) during storms of 200 logins, and times of responses',
      sides: ['ours', 'baseline'],
      figures: [...stormFigures(storms), ...rate, ...timing],
      raw: storms,
    };
  });
}

async function post({ server }: RecordStage, path: string, body: unknown): Promise<number> {
  const response = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

function loginsOf(emails: readonly string[]): string[] {
  return emails.map((email) =>
    renderRequest({ method: 'POST', path: `${auth}/users/login`, body: { email, password } })
  );
}

/** The rate is held against hash-wasm, which the server uses; what Node's own would make is shown beside it. */
async function loginRate(
  stage: RecordStage,
  emails: readonly string[],
  { rounds, seconds }: LoginPace,
): Promise<Figure[]> {
  const generator = startGenerator();
  const ours: number[] = [];
  const raw: Record<HashMaker, number[]> = { 'hash-wasm': [], 'node:crypto': [] };
  const { port } = stage.server;
  const requests = loginsOf(emails);
  try {
    for (let round = 0; round < rounds; round++) {
      for (const maker of makers) raw[maker].push(await rawHashRate(maker, seconds));
      const result = await generator.run({ port, requests, connections: 16, seconds });
      ours.push(result.requests / result.seconds);
    }
  } finally {
    await generator.stop();
  }
  return makers.map((maker) => {
    const baseline = raw[maker];
    const ratio = spread(ours.map((rate, round) => rate / (baseline[round] ?? Number.NaN)));
    const figure = {
      name: `logins (raw ${maker})`,
      unit: '/s',
      ours: spread(ours),
      baseline: spread(baseline),
      ratio,
    };
    const goal = { text: 'at least 85 %', reached: ratio.median >= 0.85 };
    return maker === 'hash-wasm' ? { ...figure, goal } : figure;
  });
}

/** Known against unknown addresses, asked in turn, each once: what has been asked before differs for a reason. */
async function timingOf(
  stage: RecordStage,
  emails: readonly string[],
  { tries }: LoginPace,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const asks: Record<string, (email: string) => Promise<number>> = {
    'wrong password': (email) => post(stage, `${auth}/users/login`, { email, password: 'a wrong password' }),
    'code requested': (email) => post(stage, `${auth}/otp/request`, { email }),
    'reset requested': (email) => post(stage, `${auth}/password-reset/request`, { email }),
  };
  for (const [name, ask] of Object.entries(asks)) {
    const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
    for (let index = 0; index < tries; index++) {
      const order = index % 2 === 0 ? ['known', 'unknown'] as const : ['unknown', 'known'] as const;
      for (const kind of order) {
        const email = kind === 'known' ? emails[index % emails.length] : undefined;
        const began = performance.now();
        await ask(email ?? `${randomUUID()}@example.com`);
        times[kind].push(performance.now() - began);
      }
    }
    const [known, unknown] = [percentile(times.known, 0.5), percentile(times.unknown, 0.5)];
    figures.push({
      name: `${name}: known (unknown)`,
      unit: 'ms',
      ours: spread([known]),
      baseline: spread([unknown]),
      ratio: spread([known / unknown]),
      goal: { text: 'within 5 %', reached: Math.abs(known / unknown - 1) < 0.05 },
    });
  }
  return figures;
}
