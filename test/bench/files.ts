// Files: what a crowd of uploads takes of memory and of other requests, and how fast bytes come back.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import type { Findings } from './findings.ts';
import { type LoadResult, renderRequest, startGenerator } from './load.ts';
import { residentMebibytes } from './proc.ts';
import { type RecordStage, withRecords } from './stage.ts';
import { spread } from './statistics.ts';

const mebibyte = 1_048_576;
const size = 10 * mebibyte;
const uploads = 100;
const parallel = 16;
const files = '/api/workspaces/bench/apps/shop/files';

/** All of it on one server. */
export async function benchFiles(
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Findings> {
  return await withRecords(async (stage) => {
    const crowds: Crowd[] = [];
    for (let round = 0; round < rounds; round++) crowds.push(await crowd(stage, seconds));
    const speeds = await downloads(stage, { rounds, seconds });
    const ratio = spread(speeds.map(({ ours, bare }) => ours / bare));
    const slower = spread(crowds.map(({ calm, busy }) => busy.p99 / calm.p99));
    const memory = spread(crowds.map(({ mebibytes }) => mebibytes));
    return {
      bench: 'files',
      title:
        `${uploads} uploads of 10 MiB, ${parallel} at a time, beside record reads; downloads against a bare handler`,
      sides: ['ours', 'baseline'],
      figures: [
        {
          name: 'memory of the uploads',
          unit: 'MiB',
          ours: memory,
          goal: { text: 'less than 100 MiB', reached: memory.max < 100 },
        },
        {
          name: 'read p99 beside uploads (calm)',
          unit: 'ms',
          ours: spread(crowds.map(({ busy }) => busy.p99)),
          baseline: spread(crowds.map(({ calm }) => calm.p99)),
          ratio: slower,
          goal: { text: 'less than 2 times', reached: slower.median < 2 },
        },
        {
          name: 'uploaded',
          unit: 'MiB/s',
          ours: spread(crowds.map(({ took }) => uploads * size / mebibyte / took)),
        },
        {
          name: 'downloaded (createReadStream)',
          unit: 'MiB/s',
          ours: spread(speeds.map(({ ours }) => ours)),
          baseline: spread(speeds.map(({ bare }) => bare)),
          ratio,
          goal: { text: 'at least 70 %', reached: ratio.median >= 0.7 },
        },
      ],
      raw: { crowds, speeds },
    };
  });
}

interface Crowd {
  calm: LoadResult;
  busy: LoadResult;
  mebibytes: number;
  /** Seconds. */
  took: number;
}

async function crowd(stage: RecordStage, seconds: number): Promise<Crowd> {
  const generator = startGenerator();
  const { path, token, ids, server } = stage;
  const reads = (seconds: number) =>
    generator.run({
      port: server.port,
      requests: ids.map((id) => renderRequest({ method: 'GET', path: `${path}/${id}`, token })),
      connections: 1,
      seconds,
      pauseMilliseconds: 4,
    });
  try {
    const calm = await reads(seconds);
    const before = residentMebibytes(server.apiPid);
    let peak = before;
    const watch = setInterval(() => peak = Math.max(peak, residentMebibytes(server.apiPid)), 20);
    const began = performance.now();
    const [busy, took] = await Promise.all([
      reads(seconds),
      uploadAll(stage).then(() => (performance.now() - began) / 1_000),
    ]);
    clearInterval(watch);
    return { calm, busy, mebibytes: peak - before, took };
  } finally {
    await generator.stop();
  }
}

async function uploadAll(stage: RecordStage): Promise<void> {
  const bytes = randomBytes(size);
  let left = uploads;
  const lane = async () => {
    while (left-- > 0) await upload(stage, bytes);
  };
  await Promise.all(Array.from({ length: parallel }, lane));
}

/** Answers the file's id. */
async function upload({ server, token }: RecordStage, bytes: Buffer): Promise<string> {
  const response = await fetch(server.url + files, {
    method: 'POST',
    headers: { 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`an upload answered ${response.status}: ${text}`);
  return String(JSON.parse(text).id);
}

/** MiB a second, ours and the bare handler's in turn. */
async function downloads(
  stage: RecordStage,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<{ ours: number; bare: number }[]> {
  const { server, token } = stage;
  const id = await upload(stage, randomBytes(size));
  const child = fork(new URL('./bare-files.ts', import.meta.url), { detached: true });
  const ready = once(child, 'message');
  child.send({ path: blobPath(server.dataDir, id) });
  const [port] = await ready;
  const target = { port: server.port, path: `${files}/${id}`, headers: { Authorization: `Bearer ${token}` } };
  const bare = { port: Number(port), path: '/', headers: {} };
  const speeds: { ours: number; bare: number }[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      speeds.push({ bare: await rateOf(bare, seconds), ours: await rateOf(target, seconds) });
    }
  } finally {
    const gone = once(child, 'exit');
    child.kill('SIGINT');
    await gone;
  }
  return speeds;
}

function blobPath(dataDir: string, id: string): string {
  const root = join(dataDir, 'blobs');
  const found = readdirSync(root, { recursive: true, withFileTypes: true }).find(({ name }) => name === id);
  if (found === undefined) throw new Error('the blob is not there');
  return join(found.parentPath, id);
}

/** Four connections, each with one download after another. */
async function rateOf(
  target: { port: number; path: string; headers: Record<string, string> },
  seconds: number,
): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const until = performance.now() + seconds * 1_000;
  let bytes = 0;
  const lane = async () => {
    while (performance.now() < until) bytes += await download({ ...target, agent });
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: 4 }, lane));
  agent.destroy();
  return bytes / mebibyte / ((performance.now() - began) / 1_000);
}

function download(options: { port: number; path: string; headers: Record<string, string>; agent: Agent }) {
  return new Promise<number>((resolve, reject) => {
    request({ ...options, host: '127.0.0.1' }, (response) => {
      let length = 0;
      response.on('data', (chunk: Buffer) => length += chunk.length);
      response.once('end', () => resolve(length));
      response.once('error', reject);
    }).once('error', reject).end();
  });
}
