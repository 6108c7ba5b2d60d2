// Validates the messages of API processes, as a malformed message must not crash the supervisor.
import type { FromApi, PeerRequest, RunnerRequest } from './protocol.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number';
const boolean: Check = (value) => typeof value === 'boolean';

const share: Check = (value) =>
  typeof value === 'object' && value !== null &&
  ['cpu_cores', 'cpu_burst_ms', 'memory_mb'].every((name) => typeof Reflect.get(value, name) === 'number');

/** Files whose names cannot leave their folder. */
const files: Check = (value) => Array.isArray(value) && value.every(isFile);

function isFile(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('file' in value) || !('source' in value)) return false;
  return typeof value.file === 'string' && /^[^./][^/]*$/.test(value.file) &&
    typeof value.source === 'string';
}

/** The members of each message type. */
const members: Readonly<Record<FromApi['type'], Readonly<Record<string, Check>>>> = {
  progress: { message: text },
  ready: { url: text, initialized: boolean },
  failed: { message: text },
  pong: {},
  runner_start: { id: text, workspace: text, app: text, memory_mb: number, share },
  runner_share: { workspace: text, share },
  runner_workspace_active: { workspace: text },
  runner_sum: { id: text, workspace: text },
  runner_stop: { id: text, kill: boolean },
  runner_ready: { id: text },
  runner_clear_crashes: { workspace: text, app: text },
  runner_measure: { id: text },
  peers_ask: { id: text, question: text },
  peers_response: { id: text, response: text },
  runner_check: { id: text, workspace: text, app: text, files, types: text },
};

/** True for a well-formed message of the API. */
export function isApiMessage(message: unknown): message is FromApi {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false;
  const type = String(message.type);
  if (!Object.hasOwn(members, type)) return false;
  const wanted = Object.entries(members[type as FromApi['type']]);
  return wanted.every(([name, is]) => is(Reflect.get(message, name)));
}

/** True for a message to other API processes. */
export function isPeerRequest(message: FromApi): message is PeerRequest {
  return message.type.startsWith('peers_');
}

/** True for a message about hook runners. */
export function isRunnerRequest(message: FromApi): message is RunnerRequest {
  return message.type.startsWith('runner_');
}
