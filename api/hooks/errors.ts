// The errors by which hooks change a response.
import type { ErrorCode } from '../errors.ts';

/** The error codes of a write that come from hooks. */
export const hookErrors = [
  'hook_veto',
  'hook_error',
  'hook_busy',
  'hook_unavailable',
] as const satisfies readonly ErrorCode[];
