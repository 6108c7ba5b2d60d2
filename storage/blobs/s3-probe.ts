// Tries a bucket as blobs need it: writes an object, reads it, removes it.
import { randomUUID } from 'node:crypto';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { openClients, type S3Access } from './s3-clients.ts';

const silenceMs = 5_000;

/** Tries the bucket. Returns the clock of the store; undefined where it sends none. Throws the error of the SDK. */
export async function probeBucket(access: S3Access): Promise<Date | undefined> {
  const { keeper, writer, reader } = openClients(access, silenceMs);
  const object = { Bucket: access.bucket, Key: `bulkhead-doctor/${randomUUID()}` };
  let date = '';
  writer.middlewareStack.add((next) => async (given) => {
    const output = await next(given);
    date = dateOf(output.response) ?? date;
    return output;
  }, { step: 'deserialize', priority: 'low', name: 'readDate' });
  try {
    await writer.send(new PutObjectCommand({ ...object, Body: 'bulkhead doctor' }));
    try {
      const { Body } = await reader.send(new GetObjectCommand(object));
      await Body?.transformToByteArray();
    } finally {
      await writer.send(new DeleteObjectCommand(object));
    }
  } finally {
    for (const client of [keeper, writer, reader]) client.destroy();
  }
  const clock = new Date(date);
  return Number.isNaN(clock.getTime()) ? undefined : clock;
}

function dateOf(response: unknown): string | undefined {
  if (typeof response !== 'object' || response === null || !('headers' in response)) return undefined;
  const { headers } = response;
  if (typeof headers !== 'object' || headers === null || !('date' in headers)) return undefined;
  return typeof headers.date === 'string' ? headers.date : undefined;
}
