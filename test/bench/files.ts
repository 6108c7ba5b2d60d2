// Files: what a crowd of uploads takes of memory and of other requests, and how fast bytes come back.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { type Crowd, crowds, crowdSize, fileBytes, filesPath } from './file-crowds.ts';
import type { Figure, Findings } from './findings.ts';
import { type RecordStage, withRecords } from './stage.ts';
import { spread } from './statistics.ts';
import type { UploadResult } from './upload-clients.ts';

const mebibyte = 1_048_576;

/** All of it on one server. */
export async function benchFiles(
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Findings> {
  return await withRecords(async (stage) => {
    const id = await upload(stage, randomBytes(fileBytes));
    const bare = await startBare(stage, id);
    const found = await crowds(stage, { rounds, seconds, barePort: bare.port });
    const speeds = await downloads(stage, { rounds, seconds, id, barePort: bare.port });
    await bare.stop();
    const { uploads, parallel } = crowdSize;
    return {
      bench: 'files',
      title: `${uploads} uploads of 10 MiB, ${parallel} at a time, beside record reads; downloads`,
      sides: ['ours', 'baseline'],
      figures: [...crowdFigures(found), downloadFigure(speeds)],
      raw: { crowds: found, speeds },
    };
  });
}

function crowdFigures(found: readonly Crowd[]): Figure[] {
  const memory = spread(found.map(({ mebibytes }) => mebibytes));
  const besideCalm = besideFigure(found, 'calm');
  const slower = besideCalm.ratio.median;
  return [
    {
      name: 'memory of the uploads',
      unit: 'MiB',
      ours: memory,
      goal: { text: 'less than 100 MiB', reached: memory.max < 100 },
    },
    { ...besideCalm, goal: { text: 'less than 2 times', reached: slower < 2 } },
    besideFigure(found, 'bare'),
    {
      name: 'uploaded (bare handler)',
      unit: 'MiB/s',
      ours: spread(found.map(({ uploads }) => rateOf(uploads))),
      baseline: spread(found.map(({ bareUploads }) => rateOf(bareUploads))),
      ratio: spread(found.map(({ uploads, bareUploads }) => rateOf(uploads) / rateOf(bareUploads))),
    },
  ];
}

/** Reads beside uploads into the server, and those at rest or beside uploads into a bare handler. */
function besideFigure(found: readonly Crowd[], other: 'calm' | 'bare') {
  return {
    name: `read p99 beside uploads (${other === 'calm' ? 'calm' : 'beside bare ones'})`,
    unit: 'ms',
    ours: spread(found.map(({ busy }) => busy.p99)),
    baseline: spread(found.map((crowd) => crowd[other].p99)),
    ratio: spread(found.map((crowd) => crowd.busy.p99 / crowd[other].p99)),
  };
}

function rateOf({ uploads, seconds }: UploadResult): number {
  return uploads * fileBytes / mebibyte / seconds;
}

function downloadFigure(speeds: readonly Speeds[]): Figure {
  const ratio = spread(speeds.map(({ ours, bare }) => ours / bare));
  return {
    name: 'downloaded (createReadStream)',
    unit: 'MiB/s',
    ours: spread(speeds.map(({ ours }) => ours)),
    baseline: spread(speeds.map(({ bare }) => bare)),
    ratio,
    goal: { text: 'at least 70 %', reached: ratio.median >= 0.7 },
  };
}

/** MiB a second. */
interface Speeds {
  ours: number;
  bare: number;
}

/** Answers the file's id. */
async function upload({ server, token }: RecordStage, bytes: Buffer): Promise<string> {
  const response = await fetch(server.url + filesPath, {
    method: 'POST',
    headers: { 'Authorization': `Bearer ${token}`, 'Content-Type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`an upload answered ${response.status}: ${text}`);
  return String(JSON.parse(text).id);
}

/** The bare handlers, which send the same file and store beside the server's own. */
async function startBare(
  { server }: RecordStage,
  id: string,
): Promise<{ port: number; stop: () => Promise<void> }> {
  const directory = join(server.dataDir, 'bare');
  mkdirSync(directory);
  const child = fork(new URL('./bare-files.ts', import.meta.url), { detached: true });
  const ready = once(child, 'message');
  child.send({ path: blobPath(server.dataDir, id), directory });
  const [port] = await ready;
  const stop = async () => {
    const gone = once(child, 'exit');
    child.disconnect();
    await gone;
  };
  return { port: Number(port), stop };
}

/** MiB a second, ours and the bare handler's in turn. */
async function downloads(
  { server, token }: RecordStage,
  { rounds, seconds, id, barePort }: { rounds: number; seconds: number; id: string; barePort: number },
): Promise<Speeds[]> {
  const headers = { Authorization: `Bearer ${token}` };
  const target = { port: server.port, path: `${filesPath}/${id}`, headers };
  const bare = { port: barePort, path: '/', headers: {} };
  const speeds: Speeds[] = [];
  for (let round = 0; round < rounds; round++) {
    speeds.push({ bare: await downloadFor(bare, seconds), ours: await downloadFor(target, seconds) });
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
async function downloadFor(
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
