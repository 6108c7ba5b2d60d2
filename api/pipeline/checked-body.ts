// Reads the JSON body of a request and checks it against the schema of its route.
import { findErrors } from '../contract/check.ts';
import type { AnyRoute, ContextBeforeBody } from '../contract/route.ts';
import { ApiError, failValidation } from '../errors.ts';
import type { RequestInfo } from '../http/request-info.ts';
import type { Scope } from '../scope.ts';
import type { ReadJson } from './body.ts';

/** The route that wants the body, and the request so far. */
interface BodyCheck {
  route: AnyRoute;
  context: ContextBeforeBody<string, Scope>;
  workspace: string | undefined;
}

/**
 * Reads the body and checks it. Throws what `ReadJson` throws, and `400 validation` with everything that is wrong; before
 * either, `404` when what the path names does not exist. A good body does not wait for that to be looked up.
 */
export async function readCheckedBody(
  readJson: ReadJson,
  request: RequestInfo,
  { route, context, workspace }: BodyCheck,
): Promise<unknown> {
  try {
    const body = await readJson(request, { workspace, mayBeEmpty: route.bodyMayBeEmpty });
    const errors = route.body === undefined ? [] : findErrors(body, route.body);
    if (errors.length > 0) failValidation([...errors, ...await route.bodyErrors?.(context, body) ?? []]);
    return body;
  } catch (error) {
    if (error instanceof ApiError && (error.code === 'deserialization' || error.code === 'validation')) {
      await route.requireTarget?.(context);
    }
    throw error;
  }
}
