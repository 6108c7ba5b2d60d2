// A folder that is laid out as the kernel's control groups, for what a machine may not give a test.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ControlGroups, openControlGroups } from '../../../../supervisor/hooks/shares/control-groups.ts';

/** The process that is in the group. */
export const serverPid = 4_711;

/** The folder. Paths are relative to it. */
export class GroupFolder implements AsyncDisposable {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** What stands for `/sys/fs/cgroup`. */
  get groupsPath(): string {
    return join(this.#path, 'cgroup');
  }

  /** Opens the groups of a server that is in group `own`. */
  open() {
    return openControlGroups({
      dataDir: '/data',
      root: this.groupsPath,
      self: join(this.#path, 'self'),
      pid: serverPid,
    });
  }

  /** The groups; throws why there are none. */
  groups(): ControlGroups {
    const kernel = this.open();
    if (kernel.groups === undefined) throw new Error(kernel.why);
    return kernel.groups;
  }

  async read(path: string): Promise<string> {
    return await readFile(join(this.groupsPath, path), 'utf8');
  }

  async write(path: string, text: string): Promise<void> {
    const file = join(this.groupsPath, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Takes the files of a group away, as the kernel does when the group is removed. */
  async empty(path: string): Promise<void> {
    const folder = join(this.groupsPath, path);
    for (const name of await readdir(folder)) await rm(join(folder, name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#path, { recursive: true });
  }
}

/** Makes one in which the server is in group `own` (`/` for the root), with so many controllers and processes. */
export async function makeGroupFolder(
  own: string,
  { controllers = 'cpuset cpu io memory pids', processes = `${serverPid}`, isRoot = false } = {},
): Promise<GroupFolder> {
  const path = await mkdtemp(join(tmpdir(), 'bulkhead-groups-'));
  const folder = new GroupFolder(path);
  await writeFile(join(path, 'self'), `4:memory:/elsewhere\n0::${own}\n`);
  await folder.write('cgroup.controllers', 'cpuset cpu io memory pids\n');
  await folder.write(join(own, 'cgroup.controllers'), `${controllers}\n`);
  await folder.write(join(own, 'cgroup.procs'), `${processes}\n`);
  if (!isRoot) await folder.write(join(own, 'cgroup.type'), 'domain\n');
  return folder;
}
