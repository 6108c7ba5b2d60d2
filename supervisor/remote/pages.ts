// Reads all pages of a list.
import type { RemoteClient } from './client.ts';
import { listMember, memberOf } from './members.ts';

const perPage = '200';

/** All items of a list, page by page. Throws `CommandFailed`. */
export async function listAll(
  client: RemoteClient,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let page = 1;; page++) {
    const { body } = await client.request(path, {
      query: { ...query, page: String(page), per_page: perPage },
    });
    items.push(...listMember(body, 'items'));
    if (page >= Number(memberOf(body, 'total_pages') ?? 0)) return items;
  }
}
