// A project at its development server: signs in, makes workspace and app, and keeps the app as the files are.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signInForKey } from '../commands/login.ts';
import { environment } from '../config.ts';
import { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { hookFolder, readHookFiles } from '../remote/hook-folder.ts';
import { appPath, type Place, resolvePlace, workspacePath } from '../remote/place.ts';
import { printable, printLine, printNote } from '../remote/print.ts';
import { pushHookFiles } from '../remote/push-hooks.ts';
import { pushSchema, readSchemaFiles } from './push-schema.ts';

const passwordBytes = 12;

/** Sets a new server up and signs in there. Returns the password that was made. */
export async function setUpForDevelopment(url: string): Promise<string> {
  const { BULKHEAD_PASSWORD: given = '' } = environment();
  const password = given === '' ? randomBytes(passwordBytes).toString('base64url') : given;
  await new RemoteClient(url, undefined).request('/_/setup', { method: 'POST', body: { password } });
  await signInForKey({ url, workspace: undefined, app: undefined }, {
    level: 'server',
    name: 'admin',
    password,
  });
  return password;
}

/** The app of a project, on a server where somebody is signed in. */
export class ProjectApp {
  readonly #client: RemoteClient;
  readonly #place: Place;
  /** The text of the files at the last push. */
  #schema = '';
  /** The names of the hook files that were there then. Others of the server are not ours to remove. */
  #hooks: readonly string[] = [];

  /** Throws `CommandFailed` when nobody is signed in, or the project names no app. */
  constructor(url: string) {
    this.#place = resolvePlace({ url });
    if (this.#place.token === undefined) {
      throw new CommandFailed(
        'unauthorized',
        `nothing is pushed, as nobody is signed in: bulkhead login --url ${url}`,
      );
    }
    this.#client = new RemoteClient(url, this.#place.token);
    appPath(this.#place);
  }

  /** The origin of the app, for pages in a browser. */
  get origin(): string {
    const { url, app = '', workspace = '' } = this.#place;
    return `http://${app}--${workspace}.localhost:${new URL(url).port}`;
  }

  /** The URL of the app's API. */
  get api(): string {
    return this.#place.url + appPath(this.#place);
  }

  /** Makes the workspace and the app where they are missing. */
  async make(): Promise<void> {
    const { workspace = '', app = '' } = this.#place;
    const { status } = await this.#client.request(appPath(this.#place), { accept: [404] });
    if (status !== 404) return;
    const conflict = { accept: [409], method: 'POST' } as const;
    await this.#client.request('/api/workspaces', { ...conflict, body: { id: workspace, name: workspace } });
    await this.#client.request(`${workspacePath(this.#place)}/apps`, {
      ...conflict,
      body: { id: app, name: app },
    });
  }

  /** Sends what has changed, and shows what is wrong with it: the next save may be right. */
  async push(): Promise<void> {
    const app = appPath(this.#place);
    await this.#pushSchema(app).catch(showFailure);
    await this.#pushHooks(app).catch(showFailure);
  }

  async #pushSchema(app: string): Promise<void> {
    const files = readSchemaFiles();
    const text = JSON.stringify(files);
    if (text === this.#schema || files.length === 0) return;
    await pushSchema(this.#client, { app, files });
    this.#schema = text;
    printLine(`pushed ${files.map(({ filename }) => filename).join(', ')}`);
    await this.#writeTypes(app);
  }

  async #pushHooks(app: string): Promise<void> {
    if (!existsSync(hookFolder)) return;
    const files = readHookFiles(hookFolder);
    const names = files.map(({ filename }) => filename);
    for (const name of this.#hooks.filter((each) => !names.includes(each))) {
      await this.#client.request(`${app}/hooks/${encodeURIComponent(name)}`, {
        method: 'DELETE',
        accept: [404],
      });
      printLine(`removed ${name}`);
    }
    this.#hooks = names;
    const { faults } = await pushHookFiles(this.#client, {
      ...{ app, files },
      onPushed: (filename) => printLine(`pushed ${filename}`),
    });
    for (const fault of faults.keys()) printNote(`bulkhead: ${fault}`);
  }

  /** The collections have other fields now, which editors are to complete. */
  async #writeTypes(app: string): Promise<void> {
    if (!existsSync(hookFolder)) return;
    const file = join(hookFolder, 'hooks.d.ts');
    const { body } = await this.#client.request(`${app}/hooks/types`);
    if (typeof body !== 'string' || existsSync(file) && readFileSync(file, 'utf8') === body) return;
    writeFileSync(file, body);
  }
}

/** Shows what the user can put right, in one line. Throws any other error. */
function showFailure(error: unknown): void {
  if (!(error instanceof CommandFailed)) throw error;
  printNote(`bulkhead: ${printable(error.message)}`);
}
