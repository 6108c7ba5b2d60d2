// The seccomp filter of hook runners, assembled from the list of refused calls.
import { constants, endianness } from 'node:os';
import { type FilteredArch, newestKnown, refused, ruled } from './seccomp-calls.ts';

/** One instruction of classic BPF: https://www.kernel.org/doc/html/latest/networking/filter.html. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Operations, as the kernel's linux/bpf_common.h composes them. */
const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfGreater = 0x25;
const jumpIfAnyBit = 0x45;
const returns = 0x06;

/** Where `struct seccomp_data` keeps things; of arguments the low halves (little-endian). */
const offset = { number: 0, arch: 4, first: 16, second: 24 };

/** https://man7.org/linux/man-pages/man2/seccomp.2.html */
const allow: Instruction = [returns, 0, 0, 0x7fff_0000];
const killProcess: Instruction = [returns, 0, 0, 0x8000_0000];
const refuseWith = (error: number): Instruction => [returns, 0, 0, 0x0005_0000 | error];
const refuse = refuseWith(constants.errno.EPERM);
const unknown = refuseWith(constants.errno.ENOSYS);

/** AUDIT_ARCH_* of linux/audit.h: numbers mean nothing without the convention they are called by. */
const conventions: Readonly<Record<FilteredArch, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** `clone` flags: a thread, and what makes namespaces (CLONE_NEW*). */
const thread = 0x0001_0000;
const namespaces = 0x7e02_0080;
/** Terminal requests that type into it. */
const typeInto = 0x5412;
const consoleRequest = 0x541c;

/** True when there is a filter for this processor. */
export function isFiltered(arch: string): arch is FilteredArch {
  return Object.hasOwn(conventions, arch) && endianness() === 'LE';
}

/**
 * The filter as `struct sock_filter[]`, which bubblewrap loads: calls of the list fail with EPERM, calls newer than the
 * list ENOSYS as on an older kernel, and every other is allowed.
 */
export function seccompProgram(arch: FilteredArch): Buffer {
  const refusals = Object.values(refused)
    .map((numbers) => numbers[arch])
    .filter((number) => number !== undefined)
    .flatMap((number): Instruction[] => [[jumpIfEqual, 0, 1, number], refuse]);
  return encode([
    [load, 0, 0, offset.arch],
    [jumpIfEqual, 1, 0, conventions[arch]],
    killProcess,
    [load, 0, 0, offset.number],
    // On x64 also the calls of x32, whose numbers have a high bit.
    [jumpIfGreater, 0, 1, newestKnown],
    unknown,
    ...refusals,
    // Its flags are behind a pointer, where no filter can see them; glibc then takes `clone`.
    [jumpIfEqual, 0, 1, ruled.clone3[arch]],
    unknown,
    ...onlyFor(ruled.clone[arch], [
      [load, 0, 0, offset.first],
      [jumpIfAnyBit, 2, 0, namespaces],
      [jumpIfAnyBit, 0, 1, thread],
      allow,
      refuse,
    ]),
    ...onlyFor(ruled.ioctl[arch], [
      [load, 0, 0, offset.second],
      [jumpIfEqual, 1, 0, typeInto],
      [jumpIfEqual, 0, 1, consoleRequest],
      refuse,
    ]),
    allow,
  ]);
}

function onlyFor(call: number, rule: readonly Instruction[]): Instruction[] {
  return [[jumpIfEqual, 0, rule.length, call], ...rule];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * 8);
  instructions.forEach(([code, ifTrue, ifFalse, value], index) => {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(ifTrue, index * 8 + 2);
    program.writeUInt8(ifFalse, index * 8 + 3);
    program.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return program;
}
