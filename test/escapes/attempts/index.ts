// All attempts, by number.
import type { Attempt } from './attempt.ts';
import { fileAttempts } from './files.ts';
import { importAttempts } from './imports.ts';
import { machineAttempts } from './machine.ts';
import { networkAttempts } from './network.ts';
import { privilegeAttempts } from './privileges.ts';
import { processAttempts } from './processes.ts';
import { reflectionAttempts } from './reflection.ts';
import { runnerAttempts } from './runner.ts';

/** 260 of them. */
export const attempts: readonly Attempt[] = [
  ...fileAttempts,
  ...importAttempts,
  ...networkAttempts,
  ...processAttempts,
  ...machineAttempts,
  ...privilegeAttempts,
  ...runnerAttempts,
  ...reflectionAttempts,
];
