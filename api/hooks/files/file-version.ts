// A text that a hook file has, or had, and the digests that tell such texts apart.
import { createHash } from 'node:crypto';
import type { SourceFile } from '../../../hook-runner/protocol.ts';
import { readFaults } from './faults.ts';
import { type HookFileContent, toSourceFile } from './folder.ts';

/** A text that a file has, or had. */
export interface FileVersion extends SourceFile {
  readonly sha256: string;
}

/** The version that a file has now; none where it cannot be read. */
export function toVersion(content: HookFileContent): FileVersion[] {
  return toSourceFile(content).map(({ file, source }) => ({ file, source, sha256: digest(source) }));
}

/** Tells states of a folder apart. */
export function printOf(read: readonly HookFileContent[]): string {
  const texts = read.flatMap(toVersion).map(({ file, sha256 }) => [file, sha256]);
  return digest(JSON.stringify([texts, read.flatMap(readFaults)]));
}

/** The SHA-256 of a text, in hex. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
