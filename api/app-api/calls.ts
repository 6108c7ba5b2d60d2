// The calls of hook code to the server. They use the same features as requests, with the rights of an admin of their own app.
import type { CallTable } from '../../hook-runner/calls.ts';
import type { CallFrame } from '../../hook-runner/protocol.ts';
import type { AppIdentity } from '../../storage/definition.ts';
import type { Deps } from '../deps.ts';
import { noteExceeded } from '../usage/quota.ts';
import type { CallContext } from '../hooks/pool/generation.ts';
import { callerOf, type CallScope } from './acting.ts';
import { fetchForHook } from './fetch.ts';
import { deleteForHook, readForHook, storeForHook } from './files.ts';
import { sendForHook } from './mail.ts';
import { deleteUserForHook, updateUserForHook } from './manage-users.ts';
import { findOwnApp } from './own-app.ts';
import { publishForHook } from './publish.ts';
import { recordCalls } from './records.ts';
import { createUserForHook, findUserByEmailForHook, findUserForHook } from './users.ts';

type Handlers = {
  [Method in keyof CallTable]: (scope: CallScope, ...args: CallTable[Method]['args']) => unknown;
};

const handlers: Handlers = {
  ...recordCalls,
  'users.findOne': ({ deps, app }, id) => findUserForHook(deps, app, id),
  'users.findByEmail': ({ deps, app }, email) => findUserByEmailForHook(deps, app, email),
  'users.create': ({ deps, app }, user) => createUserForHook(deps, app, user),
  'users.update': ({ deps, app }, id, changes) => updateUserForHook(deps, app, { id, changes }),
  'users.delete': async ({ deps, app, context }, id) => {
    await deleteUserForHook(deps, app, { id, caller: callerOf(context) });
    return null;
  },
  'files.get': ({ deps, app }, id) => readForHook(deps, app, id),
  'files.create': ({ deps, app }, file) => storeForHook(deps, app, file),
  'files.delete': ({ deps, app, context }, id) => deleteForHook(deps, app, { id, caller: callerOf(context) }),
  'mail.send': ({ deps, app }, mail) => sendForHook(deps, app, mail),
  'realtime.publish': ({ deps, app }, ...event) => publishForHook(deps, app, event),
  'fetch': ({ deps, app, context }, request) => fetchForHook(deps, app, { request, context }),
};

/** Handles one call of an app. Throws `ApiError` and what the features throw. */
export async function handleCall(
  deps: Deps,
  app: AppIdentity,
  call: CallFrame,
  context: CallContext,
): Promise<unknown> {
  try {
    return await dispatch({ deps, app: await findOwnApp(deps, app), context, as: call.as }, call);
  } catch (error) {
    noteExceeded(deps, error, app.workspace.id);
    throw error;
  }
}

function dispatch(scope: CallScope, call: CallFrame): unknown {
  // `readMessage` has checked the arguments against the row of the method.
  const handler = handlers[call.method] as (scope: CallScope, ...args: readonly unknown[]) => unknown;
  return handler(scope, ...call.args);
}
