// Files of records: the time and the memory of the API that the import of many rows of CSV takes, and their export.
import { ReadableStream } from 'node:stream/web';
import type { Findings } from './findings.ts';
import { residentMebibytes } from './proc.ts';
import { type RecordStage, sample, withRecords } from './stage.ts';
import { spread } from './statistics.ts';

const goals = { seconds: 90, mebibytes: 64 };
/** Rows that are written at once. */
const pieceRows = 1_000;

/** Imports so many rows, and exports them. */
export async function benchTransfer({ rows }: { rows: number }): Promise<Findings> {
  return await withRecords(async (stage) => {
    const imported = await measured(stage, async () => {
      const { created } = JSON.parse(await (await importRows(stage, rows)).text());
      if (created !== rows) throw new Error(`${created} of ${rows} rows were created`);
    });
    const exported = await measured(stage, async () => {
      let bytes = 0;
      for await (const chunk of (await ask(stage, 'export?format=csv')).body ?? []) bytes += chunk.length;
      if (bytes < rows * 100) throw new Error(`the export has ${bytes} bytes`);
    });
    const seconds = rows / 1_000_000 * goals.seconds;
    return {
      bench: 'transfer',
      title: `an import of ${rows.toLocaleString('en')} rows of CSV in one transaction, and their export`,
      figures: [
        {
          name: 'import',
          unit: 's',
          ours: spread([imported.seconds]),
          goal: { text: `at most ${seconds} s`, reached: imported.seconds <= seconds },
        },
        {
          name: 'memory of the import',
          unit: 'MiB',
          ours: spread([imported.mebibytes]),
          goal: { text: `at most ${goals.mebibytes} MiB`, reached: imported.mebibytes <= goals.mebibytes },
        },
        { name: 'export', unit: 's', ours: spread([exported.seconds]) },
        { name: 'memory of the export', unit: 'MiB', ours: spread([exported.mebibytes]) },
      ],
    };
  });
}

/** The time of some work, and how much more memory the API had meanwhile. */
async function measured(
  { server: { apiPid } }: RecordStage,
  work: () => Promise<void>,
): Promise<{ seconds: number; mebibytes: number }> {
  const before = residentMebibytes(apiPid);
  let peak = before;
  const watch = setInterval(() => peak = Math.max(peak, residentMebibytes(apiPid)), 50);
  const began = performance.now();
  await work().finally(() => clearInterval(watch));
  return { seconds: (performance.now() - began) / 1_000, mebibytes: peak - before };
}

function importRows(stage: RecordStage, rows: number): Promise<Response> {
  const { title, body, price, done, due } = sample;
  let next = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      let text = next === 0 ? 'title,body,price,done,due\n' : '';
      for (const end = Math.min(rows, next + pieceRows); next < end; next++) {
        text += `${title} ${next},"${body}",${price},${done},${due}\n`;
      }
      controller.enqueue(Buffer.from(text));
      if (next === rows) controller.close();
    },
  });
  return ask(stage, 'import', { method: 'POST', body: stream, duplex: 'half' });
}

async function ask(
  { server, path, token }: RecordStage,
  to: string,
  init: { method?: string; body?: ReadableStream; duplex?: 'half' } = {},
): Promise<Response> {
  const headers = { 'Authorization': `Bearer ${token}`, 'Content-Type': 'text/csv' };
  const response = await fetch(`${server.url}${path}/${to}`, { ...init, headers });
  if (response.status !== 200) throw new Error(`${to}: ${response.status} ${await response.text()}`);
  return response;
}
