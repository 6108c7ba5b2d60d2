// Where a command works: the server, the workspace and the app, and with which token.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from '../config.ts';
import { messageOf } from '../errors.ts';
import { type Login, readCredentials } from './credentials.ts';
import { CommandFailed } from './failure.ts';
import { isMembers, textMember } from './members.ts';

/** What flags say of a place. */
export interface PlaceFlags {
  url?: string | undefined;
  workspace?: string | undefined;
  app?: string | undefined;
}

/** A server, and perhaps a workspace and an app there. */
export interface Place {
  url: string;
  workspace: string | undefined;
  app: string | undefined;
  /** The bearer token; undefined where nobody is signed in. */
  token: string | undefined;
  /** The login that the token is of, unless it comes from `BULKHEAD_TOKEN`. */
  login: Login | undefined;
}

/** The file of a project that names its place. */
const projectFile = join('bulkhead', 'project.json');
/** A server on this machine, as `bulkhead serve` starts it. */
const defaultUrl = 'http://127.0.0.1:8080';

/** Resolves the place from flags, environment, project and login; the earlier win. Throws `CommandFailed`. */
export function resolvePlace(flags: PlaceFlags): Place {
  const env = environment();
  const project = readProject();
  const { current, logins } = readCredentials();
  const token = nonEmpty(env['BULKHEAD_TOKEN']);
  const explicit = flags.url ?? nonEmpty(env['BULKHEAD_URL']);
  // A project comes from anywhere, and must not choose who gets the token of the environment.
  const url = readUrl(explicit ?? (token === undefined ? project.url : undefined) ?? current ?? defaultUrl);
  const login = token === undefined ? logins.find((each) => each.url === url) : undefined;
  return {
    url,
    workspace: flags.workspace ?? nonEmpty(env['BULKHEAD_WORKSPACE']) ?? project.workspace ??
      login?.workspace,
    app: flags.app ?? nonEmpty(env['BULKHEAD_APP']) ?? project.app ?? login?.app,
    token: token ?? login?.key.secret,
    login,
  };
}

/** `/api/workspaces/<id>` of the place. Throws `CommandFailed` when no workspace is named. */
export function workspacePath({ workspace }: Pick<Place, 'workspace'>): string {
  if (workspace === undefined) {
    throw new CommandFailed('refused', 'which workspace? Say --workspace <id>, or set BULKHEAD_WORKSPACE');
  }
  return `/api/workspaces/${encodeURIComponent(workspace)}`;
}

/** `/api/workspaces/<id>/apps/<id>` of the place. Throws `CommandFailed` when no app is named. */
export function appPath(place: Pick<Place, 'workspace' | 'app'>): string {
  const workspace = workspacePath(place);
  if (place.app === undefined) {
    throw new CommandFailed('refused', 'which app? Say --app <id>, or set BULKHEAD_APP');
  }
  return `${workspace}/apps/${encodeURIComponent(place.app)}`;
}

/** The URL without a slash at its end. Throws `CommandFailed`. */
function readUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    throw new CommandFailed('refused', `${text} is not the URL of a server, such as ${defaultUrl}`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function readProject(): PlaceFlags {
  if (!existsSync(projectFile)) return {};
  try {
    const value: unknown = JSON.parse(readFileSync(projectFile, 'utf8'));
    if (!isMembers(value)) throw new Error('it must be a JSON object');
    const read = (name: string) => nonEmpty(textMember(value, name));
    return { url: read('url'), workspace: read('workspace'), app: read('app') };
  } catch (error) {
    throw new CommandFailed('refused', `${projectFile} cannot be read: ${messageOf(error)}`);
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
