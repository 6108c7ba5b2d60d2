// Closes the files that were open where the server was started, so that no process of the server inherits them.
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { firstDescriptor } from './lifeline.ts';

/** `O_CLOEXEC` as the kernel prints flags, in octal: https://man7.org/linux/man-pages/man5/proc_pid_fdinfo.5.html. */
const closeOnExec = 0o2000000;

/**
 * Closes every descriptor but the standard ones that a program which this process starts would inherit. Node opens its own
 * with `O_CLOEXEC`, so these are the starter's. Systems without `/proc` do not list them, and keep them.
 */
export function closeInheritedDescriptors(): void {
  for (const descriptor of listDescriptors()) {
    if (descriptor >= firstDescriptor && isInheritable(descriptor)) closeSync(descriptor);
  }
}

function listDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = /^flags:\s+([0-7]+)$/m.exec(info)?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false; // the one that listed the others, which is closed by now
  }
}
