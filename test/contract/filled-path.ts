// Paths of the interface with ids in the place of parameters.
import { randomUUID } from 'node:crypto';
import type { Endpoint } from './endpoints.ts';

/** The path with real ids; what a DELETE would remove does not exist, so that asking changes nothing. */
export function filledPath({ method, path }: Endpoint, at: { workspace: string; app: string }): string {
  const ids: Record<string, string> = {
    ...at,
    name: 'orders',
    coll: 'orders',
    id: randomUUID(),
    field: 'password.length',
  };
  return path.replaceAll(
    /:([a-z]+)/g,
    (_match, name: string, index: number) =>
      method === 'DELETE' && index + 1 + name.length === path.length && name !== 'id'
        ? 'ghost'
        : ids[name] ?? 'x',
  );
}
