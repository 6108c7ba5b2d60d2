// The lifeline: ends a child process when the supervisor dies, in whatever way.

/** The first descriptor after the standard ones. In order: the command's own, the lifeline, execa's message channel. */
export const firstDescriptor = 3;

/** `KILL` for a process that may be killed at any time; `QUIT` for PostgreSQL: an immediate shutdown, then `KILL`. */
export type OrphanSignal = 'KILL' | 'QUIT';

/** Waits for the end of the command, whose process id is `$$`. PostgreSQL ends its processes within these 0.4 s. */
const afterwards: Record<OrphanSignal, string> = {
  KILL: '',
  QUIT: 'for i in 1 2 3 4 5 6 7 8; do kill -0 $$ || exit; sleep 0.05; done; kill -KILL -$$;',
};

/**
 * Wraps a command in a shell that starts a watcher in the command's process group and then becomes the command. Only the
 * supervisor holds the other end of the lifeline, so the kernel closes it when the supervisor dies, even of SIGKILL. The
 * watcher then signals the group. The command must be started as the leader of its own group.
 */
export function withLifeline(
  command: { file: string; args: readonly string[] },
  { signal, descriptor }: { signal: OrphanSignal; descriptor: number },
): { file: string; args: string[] } {
  // The watcher closes all other descriptors: to its reader, an open pipe would look like a running child.
  const others = [];
  for (let other = firstDescriptor; other <= descriptor + 1; other++) {
    if (other !== descriptor) others.push(`${other}>&-`);
  }
  const watcher = `exec </dev/null >/dev/null 2>&1 ${others.join(' ')}; read -r _ <&${descriptor}; ` +
    `kill -${signal} -$$; ${afterwards[signal]}`;
  const script = `(${watcher}) & exec "$@" ${descriptor}<&-`;
  return { file: '/bin/sh', args: ['-c', script, 'bulkhead', command.file, ...command.args] };
}
