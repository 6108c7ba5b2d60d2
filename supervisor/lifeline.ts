// What ends a process when the supervisor is gone, however the supervisor died.

/** The first descriptor after the standard ones: a command's own, then the lifeline, then execa's message channel. */
export const firstDescriptor = 3;

/** `KILL` for what may be cut off at any time, `QUIT` for PostgreSQL: an immediate shutdown, then `KILL`. */
export type OrphanSignal = 'KILL' | 'QUIT';

/** `$$` is the command's own number. That is 0.4 s, enough for PostgreSQL to end its processes. */
const afterwards: Record<OrphanSignal, string> = {
  KILL: '',
  QUIT: 'for i in 1 2 3 4 5 6 7 8; do kill -0 $$ || exit; sleep 0.05; done; kill -KILL -$$;',
};

/**
 * Wraps a command in a shell that leaves a watcher in the command's process group and then becomes the command.
 * Only the supervisor holds the other end of the lifeline, so the kernel closes it when the supervisor dies, even of
 * SIGKILL; the watcher then signals the group. The command must be started as leader of its own group.
 */
export function withLifeline(
  command: { file: string; args: readonly string[] },
  { signal, descriptor }: { signal: OrphanSignal; descriptor: number },
): { file: string; args: string[] } {
  // The watcher keeps no other descriptor: an open pipe or channel would look like a living child to its reader.
  const others = [];
  for (let other = firstDescriptor; other <= descriptor + 1; other++) {
    if (other !== descriptor) others.push(`${other}>&-`);
  }
  const watcher = `exec </dev/null >/dev/null 2>&1 ${others.join(' ')}; read -r _ <&${descriptor}; ` +
    `kill -${signal} -$$; ${afterwards[signal]}`;
  const script = `(${watcher}) & exec "$@" ${descriptor}<&-`;
  return { file: '/bin/sh', args: ['-c', script, 'bulkhead', command.file, ...command.args] };
}
