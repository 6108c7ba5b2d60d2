// The body of a request as its route wants it.
import { findErrors } from '../contract/check.ts';
import { ApiError, failValidation } from '../errors.ts';
import type { AnyRoute, ContextBeforeBody } from '../contract/route.ts';
import type { Schema } from '../contract/schema.ts';
import type { Scope } from '../scope.ts';
import type { RequestInfo } from '../http/request-info.ts';
import type { ReadJson } from './body.ts';

/** Whose body it is. */
interface Sender {
  readJson: ReadJson;
  arrival: RequestInfo;
  workspace: string | undefined;
  route: AnyRoute;
  call: ContextBeforeBody<string, Scope>;
}

/**
 * Reads the body and checks it. Throws what `ReadJson` throws, `400 validation` with everything that is wrong, and before
 * either `404` when what the path names is not there: a body that is right does not wait for that to be looked up.
 */
export async function readCheckedBody(
  schema: Schema<unknown>,
  { readJson, arrival, workspace, route, call }: Sender,
): Promise<unknown> {
  try {
    const sent = await readJson(arrival, { workspace, mayBeEmpty: route.bodyMayBeEmpty });
    const errors = findErrors(sent, schema);
    if (errors.length > 0) failValidation([...errors, ...await route.bodyErrors?.(call, sent) ?? []]);
    return sent;
  } catch (error) {
    if (error instanceof ApiError && (error.code === 'deserialization' || error.code === 'validation')) {
      await route.requireTarget?.(call);
    }
    throw error;
  }
}
