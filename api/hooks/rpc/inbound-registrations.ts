// Checks the registrations that a runner reports.
import { hookEventNames, isRecordEvent } from '../../../hook-runner/events.ts';
import type {
  FileRegistrations,
  HookRegistration,
  RouteRegistration,
  RouteSegment,
} from '../../../hook-runner/registrations.ts';
import { ProtocolError } from './frames.ts';
import { readList, readMembers, readShortText, readText, readWord } from './inbound-values.ts';

/** Characters of what is registered: all of it is looked through, or worked on, in this process. */
const maxLengths = { text: 512, name: 128, expression: 256 };
/** A path of 512 characters has no more. */
const maxSegments = 256;

/** The registrations of a file. Throws `ProtocolError`. */
export function readRegistrations(given: unknown): FileRegistrations {
  const { file, hooks, routes, jobs } = readMembers(given);
  return {
    file: readText(file),
    hooks: readList(hooks, readHook),
    routes: readList(routes, readRoute),
    jobs: readList(jobs, (job) => {
      const { name, expression } = readMembers(job);
      return {
        name: readShortText(name, maxLengths.name),
        expression: readShortText(expression, maxLengths.expression),
      };
    }),
  };
}

function readHook(given: unknown): HookRegistration {
  const { event: name, collection } = readMembers(given);
  const event = readWord(name, hookEventNames);
  if (isRecordEvent(event)) return { event, collection: readShortText(collection, maxLengths.text) };
  if (collection !== null) throw new ProtocolError(`${event} has no collection`);
  return { event, collection };
}

function readRoute(given: unknown): RouteRegistration {
  const { method, path, segments: parts } = readMembers(given);
  const segments = readList(parts, readSegment);
  if (segments.length > maxSegments) throw new ProtocolError(`a route of ${segments.length} segments`);
  return {
    method: readShortText(method, maxLengths.text),
    path: readShortText(path, maxLengths.text),
    segments,
  };
}

function readSegment(given: unknown): RouteSegment {
  const { kind, value, name } = readMembers(given);
  if (kind === 'literal') return { kind, value: readShortText(value, maxLengths.text) };
  if (kind === 'param') return { kind, name: readShortText(name, maxLengths.text) };
  return { kind: readWord(kind, ['rest']) };
}
