// The commands of one kind of thing that a server has: list, create, show, delete.
import { type ArgsDef, type CommandDef, defineCommand, type SubCommandsDef } from 'citty';
import type { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { listAll } from '../remote/pages.ts';
import type { Place } from '../remote/place.ts';
import { type Column, printJson, printLine, printMembers, printTable } from '../remote/print.ts';
import { askLine, canAsk, readPassword } from '../remote/prompt.ts';
import { withSession } from '../remote/session.ts';
import { type CommandLevel, type GivenArguments, type Remote, remoteCommand } from './remote-command.ts';

/** A kind of thing. */
export interface Resource {
  /** Its name in the command line, and in the help. */
  name: string;
  level: CommandLevel;
  /** The path of the list. */
  path: (place: Place, given: GivenArguments) => string;
  columns: readonly Column[];
  /** The name of the argument that names one of them. */
  id: string;
  /** Turns that argument into the id that paths have. */
  find?: (client: RemoteClient, path: string, named: string) => Promise<string>;
  /** Flags of all its commands. */
  args?: ArgsDef;
  /** True where no key suffices, so that the commands ask for the password. */
  needsPassword?: boolean;
  create?: {
    description: string;
    args: ArgsDef;
    body: (given: GivenArguments, place: Place) => Promise<unknown>;
    /** What to say beside the members of what was made. */
    note?: string;
  };
  more?: SubCommandsDef;
}

const passwordFlag = {
  'password-stdin': { type: 'boolean', description: 'Read your own password from standard input' },
} satisfies ArgsDef;

/** Defines the commands of a kind of thing. */
export function resource(kind: Resource): CommandDef {
  const { name, level, args = {}, needsPassword = false, create, more = {} } = kind;
  const shared = { ...args, ...needsPassword && passwordFlag };
  const positional = {
    [kind.id]: { type: 'positional', description: `The ${kind.id} of the ${name}` },
  } as const;
  const define = (verb: string, description: string, own: ArgsDef, run: (at: At) => Promise<void>) =>
    remoteCommand({
      name: verb,
      description,
      level,
      args: { ...own, ...shared },
      run: (remote) => at(kind, remote, run),
    });
  return defineCommand({
    meta: { name, description: `List, create, show and delete ${name}s.` },
    subCommands: {
      list: define('list', `List ${name}s.`, {}, (at) => list(kind, at)),
      ...create && {
        create: define('create', create.description, create.args, async (at) => {
          const { given, place, client, path, json } = at;
          const { body } = await client.request(path, {
            method: 'POST',
            body: await create.body(given, place),
          });
          printOne(body, json);
          if (create.note !== undefined && !json) printLine(create.note);
        }),
      },
      show: define('show', `Show one ${name}.`, positional, async (at) => {
        printOne((await at.client.request(await onePath(kind, at))).body, at.json);
      }),
      delete: define(
        'delete',
        `Delete one ${name}.`,
        { ...positional, ...yesFlag },
        (at) => remove(kind, at),
      ),
      ...more,
    },
  });
}

const yesFlag = { yes: { type: 'boolean', description: 'Delete without asking' } } satisfies ArgsDef;

/** A command at work: the client is that of the session where a password was needed. */
interface At extends Remote {
  path: string;
}

async function at(kind: Resource, remote: Remote, run: (at: At) => Promise<void>): Promise<void> {
  const path = kind.path(remote.place, remote.given);
  if (kind.needsPassword !== true) return await run({ ...remote, path });
  await asAdmin(remote, (client) => run({ ...remote, client, path }));
}

/** Works as the admin who is signed in, not as their key, which may not do everything. Throws `CommandFailed`. */
async function asAdmin(
  { place, client, given }: Remote,
  work: (client: RemoteClient) => Promise<void>,
): Promise<void> {
  const { login, token, url } = place;
  if (token !== undefined && !token.startsWith('bhk_')) return await work(client);
  if (login === undefined) {
    throw new CommandFailed('unauthorized', `no key may do this; sign in: bulkhead login --url ${url}`);
  }
  const { level, name, workspace } = login;
  const password = await readPassword({
    question: `Password of ${name}`,
    fromStdin: given.has('password-stdin'),
  });
  await withSession({ url, workspace }, { level, name, password }, work);
}

async function list({ columns }: Resource, { client, path, json }: At): Promise<void> {
  const items = await listAll(client, path);
  return json ? printJson(items) : printTable(items, columns);
}

async function remove(kind: Resource, at: At): Promise<void> {
  const { client, given, json, place } = at;
  const path = await onePath(kind, at);
  const named = given.required(kind.id);
  if (!given.has('yes') && canAsk()) {
    const typed = await askLine(
      `Delete ${kind.name} ${named} at ${place.url} with all it has? Type ${named}`,
      '--yes',
    );
    if (typed !== named) throw new CommandFailed('refused', 'nothing was deleted');
  }
  await client.request(path, { method: 'DELETE' });
  return json ? printJson({ deleted: named }) : printLine(`Deleted ${kind.name} ${named}.`);
}

async function onePath(kind: Resource, { client, given, path }: At): Promise<string> {
  const named = given.required(kind.id);
  const id = kind.find === undefined ? named : await kind.find(client, path, named);
  return `${path}/${encodeURIComponent(id)}`;
}

function printOne(body: unknown, json: boolean): void {
  return json || typeof body !== 'object' || body === null ? printJson(body) : printMembers(body);
}
