// The system calls that hook code is refused, with their numbers: the readable form of the seccomp filter.

/** Processors that there are numbers for, as Node names them. */
export type FilteredArch = 'x64' | 'arm64';

/** The number of a call on each; undefined where the call does not exist. */
export type CallNumbers = Readonly<Record<FilteredArch, number | undefined>>;

/** Calls with rules of their own. */
export const ruled = {
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
  ioctl: { x64: 16, arm64: 29 },
} as const satisfies Record<string, CallNumbers>;

/** The newest call that this list takes a stand on (mseal, Linux 6.10). The same on all processors since 424. */
export const newestKnown = 462;

/**
 * Calls that fail with EPERM. Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of
 * Linux.
 */
export const refused: Readonly<Record<string, CallNumbers>> = {
  // The network. The channel to the API is open already.
  socket: { x64: 41, arm64: 198 },
  bind: { x64: 49, arm64: 200 },
  listen: { x64: 50, arm64: 201 },
  connect: { x64: 42, arm64: 203 },
  accept: { x64: 43, arm64: 202 },
  accept4: { x64: 288, arm64: 242 },
  // Other processes.
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  process_madvise: { x64: 440, arm64: 440 },
  process_mrelease: { x64: 448, arm64: 448 },
  pidfd_open: { x64: 434, arm64: 434 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  pidfd_send_signal: { x64: 424, arm64: 424 },
  kcmp: { x64: 312, arm64: 272 },
  kill: { x64: 62, arm64: 129 },
  tkill: { x64: 200, arm64: 130 },
  rt_sigqueueinfo: { x64: 129, arm64: 138 },
  rt_tgsigqueueinfo: { x64: 297, arm64: 240 },
  // New processes and programs from memory; `clone` and `clone3` have rules of their own.
  fork: { x64: 57, arm64: undefined },
  vfork: { x64: 58, arm64: undefined },
  execveat: { x64: 322, arm64: 281 },
  memfd_create: { x64: 319, arm64: 279 },
  // File systems and namespaces.
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  chroot: { x64: 161, arm64: 51 },
  unshare: { x64: 272, arm64: 97 },
  setns: { x64: 308, arm64: 268 },
  move_mount: { x64: 429, arm64: 429 },
  open_tree: { x64: 428, arm64: 428 },
  fsopen: { x64: 430, arm64: 430 },
  fsconfig: { x64: 431, arm64: 431 },
  fsmount: { x64: 432, arm64: 432 },
  fspick: { x64: 433, arm64: 433 },
  mount_setattr: { x64: 442, arm64: 442 },
  statmount: { x64: 457, arm64: 457 },
  listmount: { x64: 458, arm64: 458 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: { x64: 443, arm64: 443 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  acct: { x64: 163, arm64: 89 },
  fanotify_init: { x64: 300, arm64: 262 },
  // Names that lead elsewhere.
  symlink: { x64: 88, arm64: undefined },
  symlinkat: { x64: 266, arm64: 36 },
  link: { x64: 86, arm64: undefined },
  linkat: { x64: 265, arm64: 37 },
  mknod: { x64: 133, arm64: undefined },
  mknodat: { x64: 259, arm64: 33 },
  name_to_handle_at: { x64: 303, arm64: 264 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  // The identity of the process.
  setuid: { x64: 105, arm64: 146 },
  setgid: { x64: 106, arm64: 144 },
  setreuid: { x64: 113, arm64: 145 },
  setregid: { x64: 114, arm64: 143 },
  setresuid: { x64: 117, arm64: 147 },
  setresgid: { x64: 119, arm64: 149 },
  setfsuid: { x64: 122, arm64: 151 },
  setfsgid: { x64: 123, arm64: 152 },
  setgroups: { x64: 116, arm64: 159 },
  capset: { x64: 126, arm64: 91 },
  personality: { x64: 135, arm64: 92 },
  // Doors to large parts of the kernel that a runner has no business in.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  io_uring_setup: { x64: 425, arm64: 425 },
  io_uring_enter: { x64: 426, arm64: 426 },
  io_uring_register: { x64: 427, arm64: 427 },
  userfaultfd: { x64: 323, arm64: 282 },
  keyctl: { x64: 250, arm64: 219 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  memfd_secret: { x64: 447, arm64: 447 },
  seccomp: { x64: 317, arm64: 277 },
  syslog: { x64: 103, arm64: 116 },
  vhangup: { x64: 153, arm64: 58 },
  lookup_dcookie: { x64: 212, arm64: 18 },
  nfsservctl: { x64: 180, arm64: 42 },
  // Memory that no limit of the process counts, and memory of others.
  shmget: { x64: 29, arm64: 194 },
  shmat: { x64: 30, arm64: 196 },
  shmctl: { x64: 31, arm64: 195 },
  shmdt: { x64: 67, arm64: 197 },
  semget: { x64: 64, arm64: 190 },
  semop: { x64: 65, arm64: 193 },
  semctl: { x64: 66, arm64: 191 },
  semtimedop: { x64: 220, arm64: 192 },
  msgget: { x64: 68, arm64: 186 },
  msgsnd: { x64: 69, arm64: 189 },
  msgrcv: { x64: 70, arm64: 188 },
  msgctl: { x64: 71, arm64: 187 },
  mq_open: { x64: 240, arm64: 180 },
  mq_unlink: { x64: 241, arm64: 181 },
  migrate_pages: { x64: 256, arm64: 238 },
  move_pages: { x64: 279, arm64: 239 },
  // The machine itself.
  reboot: { x64: 169, arm64: 142 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  iopl: { x64: 172, arm64: undefined },
  ioperm: { x64: 173, arm64: undefined },
  modify_ldt: { x64: 154, arm64: undefined },
  settimeofday: { x64: 164, arm64: 170 },
  clock_settime: { x64: 227, arm64: 112 },
  clock_adjtime: { x64: 305, arm64: 266 },
  adjtimex: { x64: 159, arm64: 171 },
  sethostname: { x64: 170, arm64: 161 },
  setdomainname: { x64: 171, arm64: 162 },
};
