// The error table against the interface's table, both ways.
import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../api/errors.ts';

/** The interface's table. `mfa_required` stands in it too, but is a 202 body and no error. */
const specified: Readonly<Record<string, number>> = {
  validation: 400,
  policy_violation: 400,
  unknown_column: 400,
  parse_error: 400,
  unauthorized: 401,
  bad_credentials: 401,
  forbidden: 403,
  not_found: 404,
  workspace_not_found: 404,
  app_not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  too_many_requests: 429,
  internal: 500,
  uninitialized: 503,
};

/** Codes where the interface is silent, each decided on its own. */
const decided: Readonly<Record<string, number>> = {
  deserialization: 422,
  quota_exceeded: 403,
  method_not_allowed: 405,
  hook_veto: 400,
  hook_error: 500,
  hook_busy: 503,
  hook_unavailable: 503,
  unavailable: 503,
};

describe('the error table', () => {
  it('has every code of the interface with its status, and nothing that was not decided', () => {
    const actual = Object.fromEntries(Object.entries(errorCodes).map(([code, { status }]) => [code, status]));
    expect(actual).toEqual({ ...specified, ...decided });
  });

  it('says of every code what it means', () => {
    for (const [code, { meaning }] of Object.entries(errorCodes)) {
      expect(meaning, code).toMatch(/^[A-Z].{10,}\.$/s);
    }
  });
});
