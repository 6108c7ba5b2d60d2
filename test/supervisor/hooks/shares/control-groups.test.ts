// Where the server may make control groups, and which files it writes, in a folder that is laid out as the kernel's.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeGroupFolder, serverPid } from './group-folder.ts';

const unit = 'system.slice/bulkhead.service';
const service = `/${unit}`;
const all = '+cpu +memory +pids';

describe('a server in a control group of its own', () => {
  it('moves into a group below it, and has hooks in another, with half of its weight', async () => {
    await using folder = await makeGroupFolder(service);
    await folder.write(`${unit}/memory.max`, '2147483648\n');
    const groups = folder.groups();
    expect(await folder.read(`${unit}/server/cgroup.procs`)).toBe(String(serverPid));
    expect(await folder.read(`${unit}/cgroup.subtree_control`)).toBe(all);
    expect(await folder.read(`${unit}/hooks/cgroup.subtree_control`)).toBe(all);
    expect(await folder.read(`${unit}/hooks/cpu.weight`)).toBe('50');
    // So that it still finds how much memory it may use.
    expect(await folder.read(`${unit}/server/memory.max`)).toBe('2147483648\n');
    expect(groups.base.endsWith(service)).toBe(true);
    groups.close();
    expect(await folder.read(`${unit}/cgroup.procs`)).toBe(String(serverPid));
    expect(await folder.read(`${unit}/cgroup.subtree_control`)).toBe('-cpu -memory -pids');
  });

  it('does so in the root of a container, which is a group like others', async () => {
    await using folder = await makeGroupFolder('/');
    folder.groups();
    expect(await folder.read('server/cgroup.procs')).toBe(String(serverPid));
    expect(await folder.read('hooks/cpu.weight')).toBe('50');
  });

  it('makes one below the root of a machine, whatever else is there', async () => {
    await using folder = await makeGroupFolder('/', { isRoot: true, processes: `1\n2\n${serverPid}` });
    const name = folder.groups().base.split('/').at(-1);
    expect(name).toMatch(/^bulkhead-[0-9a-f]{16}$/);
    expect(await folder.read('cgroup.subtree_control')).toBe(all);
    expect(await folder.read(`${name}/server/cgroup.procs`)).toBe(String(serverPid));
    expect(await folder.read(`${name}/hooks/cgroup.subtree_control`)).toBe(all);
  });
});

describe('a server that may make no groups says why', () => {
  const why = async (folder: Awaited<ReturnType<typeof makeGroupFolder>>) => {
    await using opened = folder;
    const kernel = opened.open();
    return kernel.groups === undefined ? kernel.why : 'it may';
  };

  it('where other processes are in its group', async () => {
    const folder = await makeGroupFolder(service, { processes: `1\n${serverPid}` });
    expect(await why(folder)).toMatch(/bulkhead\.service has other processes than this one$/);
  });

  it('where it was not given the controllers', async () => {
    const folder = await makeGroupFolder(service, { controllers: 'memory pids' });
    expect(await why(folder)).toMatch(/does not have the controllers cpu$/);
  });

  it('where it must not write', async () => {
    const folder = await makeGroupFolder(service);
    // A file in the way stands for what root may do everywhere else.
    await folder.write(`${unit}/server`, '');
    expect(await why(folder)).toMatch(/^EEXIST: .*\/server'$/);
  });

  it('where there are groups of version 1 only', async () => {
    const folder = await makeGroupFolder(service);
    await folder.empty(unit);
    await writeFile(join(folder.groupsPath, '../self'), '4:memory:/\n');
    expect(await why(folder)).toMatch(/does not have control groups of version 2$/);
  });
});

describe('the group of a workspace', () => {
  it('has limits of memory, processes and time, and is the same for all its runners', async () => {
    await using folder = await makeGroupFolder(service);
    const group = folder.groups().open('acme');
    const at = `${unit}/hooks/ws-acme`;
    group.limitMemory(1_048_576);
    group.limitRunners(3);
    group.limitCores(0.25);
    expect(group.entrance.endsWith(`${at}/cgroup.procs`)).toBe(true);
    expect(await folder.read(`${at}/memory.max`)).toBe('1048576');
    expect(await folder.read(`${at}/memory.swap.max`)).toBe('0');
    expect(await folder.read(`${at}/pids.max`)).toBe('144');
    expect(await folder.read(`${at}/cpu.max`)).toBe('25000 100000');
    group.limitCores(0.000_1);
    expect(await folder.read(`${at}/cpu.max`)).toBe('1000 100000');
    group.limitCores(undefined);
    expect(await folder.read(`${at}/cpu.max`)).toBe('max 100000');
  });

  it('says when it was held back, and once for each process that was ended for want of memory', async () => {
    await using folder = await makeGroupFolder(service);
    const group = folder.groups().open('acme');
    const tell = async (throttled: number, kills: number) => {
      await folder.write(
        `${unit}/hooks/ws-acme/cpu.stat`,
        `usage_usec 9\nnr_periods 9\nnr_throttled ${throttled}\n`,
      );
      await folder.write(
        `${unit}/hooks/ws-acme/memory.events`,
        `max 9\noom 9\noom_kill ${kills}\noom_group_kill 0\n`,
      );
    };
    await tell(0, 0);
    expect([group.wasThrottled, group.takeKill()]).toEqual([false, false]);
    await tell(3, 2);
    expect([group.wasThrottled, group.wasThrottled]).toEqual([true, false]);
    expect([group.takeKill(), group.takeKill(), group.takeKill()]).toEqual([true, true, false]);
  });

  it('is removed when nothing is left in it, also after a server that was killed', async () => {
    await using folder = await makeGroupFolder(service);
    const group = folder.groups().open('acme');
    group.limitRunners(1);
    expect(group.remove()).toBe(false);
    await folder.empty(`${unit}/hooks/ws-acme`);
    expect([group.remove(), group.remove()]).toEqual([true, true]);
    folder.groups().open('left');
    folder.groups();
    await expect(folder.empty(`${unit}/hooks/ws-left`)).rejects.toThrow('ENOENT');
  });
});
