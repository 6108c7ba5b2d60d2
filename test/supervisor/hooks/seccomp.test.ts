// The seccomp filter: on a real process, and for both processors by a reading of its instructions.
import { mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeFilter } from '../../../supervisor/hooks/runner-files.ts';
import { runToEnd } from '../../../supervisor/run-to-end.ts';
import { type FilteredArch, newestKnown, refused, ruled } from '../../../supervisor/hooks/seccomp-calls.ts';
import { isFiltered, seccompProgram } from '../../../supervisor/hooks/seccomp.ts';

const { EPERM, ENOSYS } = constants.errno;
const newUser = 0x1000_0000;
/** CLONE_NEW*: time, mount, control group, names, messages, user, process, network. */
const namespaces = [0x80, 0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, newUser, 0x2000_0000, 0x4000_0000];
const thread = 0x0001_0000;
const typeInto = 0x5412;

const arches: FilteredArch[] = ['x64', 'arm64'];
const conventions = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

interface Call {
  arch: number;
  number: number;
  args?: readonly number[];
}

/** Runs the filter as the kernel would: https://www.kernel.org/doc/html/latest/networking/filter.html. */
function judge(program: Buffer, { arch, number, args = [] }: Call): string {
  const data: Record<number, number> = { 0: number, 4: arch, 16: args[0] ?? 0, 24: args[1] ?? 0 };
  let accumulator = 0;
  for (let at = 0;;) {
    const code = program.readUInt16LE(at * 8);
    const value = program.readUInt32LE(at * 8 + 4);
    const jump = (holds: boolean) => at += 1 + program.readUInt8(at * 8 + (holds ? 2 : 3));
    if (code === 0x20) {
      const loaded = data[value];
      if (loaded === undefined) throw new Error(`loads from ${value}`);
      accumulator = loaded;
      at++;
    } else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x25) jump(accumulator > value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else if (code === 0x06) return verdict(value);
    else throw new Error(`instruction ${code}`);
  }
}

function verdict(value: number): string {
  if (value === 0x7fff_0000) return 'allowed';
  if (value === 0x8000_0000) return 'killed';
  return value === (0x0005_0000 | EPERM) ? 'EPERM' : value === (0x0005_0000 | ENOSYS) ? 'ENOSYS' : `${value}`;
}

describe.each(arches)('the filter for %s', (arch) => {
  const program = seccompProgram(arch);
  const ask = (number: number, ...args: number[]) =>
    judge(program, { arch: conventions[arch], number, args });

  it('refuses every call of the list, and no other', () => {
    const listed = new Set(Object.values(refused).map((numbers) => numbers[arch]));
    const special = new Set<number>(Object.values(ruled).map((numbers) => numbers[arch]));
    for (let number = 0; number <= newestKnown; number++) {
      if (special.has(number)) continue;
      expect([number, ask(number)]).toEqual([number, listed.has(number) ? 'EPERM' : 'allowed']);
    }
  });

  it('allows clone for threads only, and says that there is no clone3', () => {
    expect(ask(ruled.clone[arch], thread | 0x3d0f00)).toBe('allowed');
    expect(ask(ruled.clone[arch], 17)).toBe('EPERM');
    for (const space of namespaces) expect(ask(ruled.clone[arch], thread | space)).toBe('EPERM');
    expect(ask(ruled.clone3[arch])).toBe('ENOSYS');
  });

  it('refuses to type into a terminal, not other requests', () => {
    expect(ask(ruled.ioctl[arch], 1, typeInto)).toBe('EPERM');
    expect(ask(ruled.ioctl[arch], 1, 0x541c)).toBe('EPERM');
    expect(ask(ruled.ioctl[arch], 1, 0x5401)).toBe('allowed');
  });

  it('knows no calls newer than the list, nor those of another convention', () => {
    expect(ask(newestKnown + 1)).toBe('ENOSYS');
    expect(ask(0x4000_0000 + 41)).toBe('ENOSYS');
    expect(judge(program, { arch: 0x4000_0003, number: 0 })).toBe('killed');
  });
});

it('takes a stand on every call that Linux has up to the newest that it knows, and lets none go that it has refused', () => {
  const never = [
    'socket bind listen connect accept accept4',
    'ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_open pidfd_getfd',
    'pidfd_send_signal kcmp kill tkill rt_sigqueueinfo rt_tgsigqueueinfo',
    'fork vfork execveat memfd_create',
    'mount umount2 pivot_root chroot unshare setns move_mount open_tree fsopen fsconfig fsmount fspick',
    'mount_setattr statmount listmount quotactl quotactl_fd swapon swapoff acct fanotify_init',
    'symlink symlinkat link linkat mknod mknodat name_to_handle_at open_by_handle_at',
    'setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset personality',
    'bpf perf_event_open io_uring_setup io_uring_enter io_uring_register userfaultfd keyctl add_key',
    'request_key memfd_secret seccomp syslog vhangup lookup_dcookie nfsservctl',
    'shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl mq_open',
    'mq_unlink migrate_pages move_pages',
    'reboot kexec_load kexec_file_load init_module finit_module delete_module iopl ioperm modify_ldt',
    'settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname',
  ].flatMap((names) => names.split(' '));
  expect(Object.keys(refused).sort()).toEqual(never.sort());
  // Above this all are refused. Whoever raises it has looked at each call below it.
  expect(newestKnown).toBe(462);
});

describe('the filter on a process of this machine', () => {
  const { arch } = process;
  let folder = '';
  let filter = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bulkhead-seccomp-'));
    filter = await writeFilter(folder, arch);
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Makes calls by number from Perl, which Debian always has, and answers their error numbers (0: done). */
  async function errors(calls: readonly (readonly number[])[]): Promise<number[]> {
    const program = 'for (@ARGV) { my @c = map { $_ + 0 } split /,/; $! = 0; ' +
      'my $r = syscall($c[0], $c[1], $c[2], 0, 0); print $r == -1 ? $! + 0 : 0, " "; }';
    const bwrap = [
      '--unshare-all',
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--cap-drop',
      'ALL',
      '--seccomp',
      '4',
    ];
    const perl = ['perl', '-e', program, ...calls.map(([number, a = 0, b = 0]) => `${number},${a},${b}`)];
    const { lines, code } = await runToEnd({
      file: '/bin/sh',
      args: ['-c', 'exec "$@" 4<"$0"', filter, 'bwrap', ...bwrap, ...perl],
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      orphanSignal: 'KILL',
    });
    expect({ code, lines }).toMatchObject({ code: 0 });
    return lines.join(' ').trim().split(' ').map(Number);
  }

  it('refuses every call of the list', async () => {
    if (!isFiltered(arch)) throw new Error(`no filter for ${arch}`);
    const named = Object.entries(refused).filter(([, numbers]) => numbers[arch] !== undefined);
    const found = await errors(named.map(([, numbers]) => [numbers[arch] ?? 0]));
    expect(found).toHaveLength(named.length);
    expect(named.filter((_, index) => found[index] !== EPERM).map(([name]) => name)).toEqual([]);
  });

  it('refuses processes, namespaces and typing, and lets a process know its number', async () => {
    if (!isFiltered(arch)) throw new Error(`no filter for ${arch}`);
    const getpid = { x64: 39, arm64: 172 }[arch];
    const found = await errors([
      [getpid],
      [ruled.clone[arch], 17],
      [ruled.clone[arch], newUser],
      [ruled.clone3[arch]],
      [ruled.ioctl[arch], 0, typeInto],
      [newestKnown + 1],
    ]);
    expect(found).toEqual([0, EPERM, EPERM, ENOSYS, EPERM, ENOSYS]);
  });
});
