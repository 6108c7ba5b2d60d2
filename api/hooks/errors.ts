// What hooks can make of an answer.
import type { ErrorCode } from '../errors.ts';

/** The codes that a write may be answered with because of hooks. */
export const hookErrors = [
  'hook_veto',
  'hook_error',
  'hook_busy',
  'hook_unavailable',
] as const satisfies readonly ErrorCode[];
