// Reading what an API process says: our own program, but a message of another shape must not end the supervisor.
import type { FromApi, PeerRequest, RunnerRequest } from './protocol.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number';
const boolean: Check = (value) => typeof value === 'boolean';

/** Files whose names stay in their folder. */
const files: Check = (value) => Array.isArray(value) && value.every(isFile);

function isFile(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('file' in value) || !('source' in value)) return false;
  return typeof value.file === 'string' && /^[^./][^/]*$/.test(value.file) &&
    typeof value.source === 'string';
}

/** The members of each message. */
const members: Readonly<Record<FromApi['type'], Readonly<Record<string, Check>>>> = {
  progress: { message: text },
  ready: { url: text, initialized: boolean },
  failed: { message: text },
  pong: {},
  runner_start: { id: text, workspace: text, app: text, memory_mb: number },
  runner_stop: { id: text, kill: boolean },
  runner_clear_crashes: { workspace: text, app: text },
  runner_measure: { id: text },
  peers_ask: { id: text, question: text },
  peers_answer: { id: text, answer: text },
  runner_check: { id: text, workspace: text, app: text, files, types: text },
};

/** Whether it is a message that the API sends. */
export function isApiMessage(message: unknown): message is FromApi {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false;
  const type = String(message.type);
  if (!Object.hasOwn(members, type)) return false;
  const wanted = Object.entries(members[type as FromApi['type']]);
  return wanted.every(([name, is]) => is(Reflect.get(message, name)));
}

/** Whether it is for, or from, another API process. */
export function isPeerRequest(message: FromApi): message is PeerRequest {
  return message.type.startsWith('peers_');
}

/** Whether it is about hook runners. */
export function isRunnerRequest(message: FromApi): message is RunnerRequest {
  return message.type.startsWith('runner_');
}
