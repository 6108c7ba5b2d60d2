// A crowd of uploads, and what one reader of records has of it: at rest, beside uploads into the server, and beside the
// same into a bare handler, which is what the machine itself cannot spare it.
import { type Generator, type LoadResult, startGenerator } from './load.ts';
import { type LoadProcess, startLoadProcess } from './load-process.ts';
import { residentMebibytes } from './proc.ts';
import { calmReads, type RecordStage } from './stage.ts';
import type { UploadPlan, UploadResult } from './upload-clients.ts';

/** Where files of the stage's app are. */
export const filesPath = '/api/workspaces/bench/apps/shop/files';
/** Bytes of each file. */
export const fileBytes = 10 * 1_048_576;
/** How many uploads at least, and how many at a time. */
export const crowdSize = { uploads: 100, parallel: 16 };

/** One round. */
export interface Crowd {
  calm: LoadResult;
  bare: LoadResult;
  busy: LoadResult;
  bareUploads: UploadResult;
  uploads: UploadResult;
  /** By how much the API grew at most. */
  mebibytes: number;
}

/** Runs rounds in turn, each with a bare handler's port to compare with. */
export async function crowds(
  stage: RecordStage,
  { rounds, seconds, barePort }: { rounds: number; seconds: number; barePort: number },
): Promise<Crowd[]> {
  const generator = startGenerator();
  const clients: UploadClients = startLoadProcess('upload-clients.ts');
  const found: Crowd[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      found.push(await crowd(stage, { seconds, barePort, generator, clients }));
    }
  } finally {
    await generator.stop();
    await clients.stop();
  }
  return found;
}

type UploadClients = LoadProcess<UploadPlan, UploadResult>;

interface Means {
  seconds: number;
  barePort: number;
  generator: Generator;
  clients: UploadClients;
}

async function crowd(stage: RecordStage, means: Means): Promise<Crowd> {
  const { server: { port, apiPid } } = stage;
  const { barePort, clients, seconds } = means;
  const calm = await reads(stage, means);
  const [bare, bareUploads] = await Promise.all([
    reads(stage, means),
    uploadAll(clients, { port: barePort, token: stage.token, seconds }),
  ]);
  const before = residentMebibytes(apiPid);
  let peak = before;
  const watch = setInterval(() => peak = Math.max(peak, residentMebibytes(apiPid)), 20);
  const [busy, uploads] = await Promise.all([
    reads(stage, means),
    uploadAll(clients, { port, token: stage.token, seconds }),
  ]);
  clearInterval(watch);
  return { calm, bare, busy, bareUploads, uploads, mebibytes: peak - before };
}

function reads(stage: RecordStage, { generator, seconds }: Means) {
  return generator.run(calmReads(stage, seconds));
}

function uploadAll(
  clients: UploadClients,
  { port, token, seconds }: { port: number; token: string; seconds: number },
): Promise<UploadResult> {
  const head = `POST ${filesPath} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
    'Content-Type: application/octet-stream\r\n';
  return clients.run({ port, head, bytes: fileBytes, seconds, ...crowdSize });
}
