// Finds an admin or an end-user by the address, where a command was given that and no id.
import type { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { textMember } from '../remote/members.ts';
import { listAll } from '../remote/pages.ts';

/** The id of whoever has the address; any other text is an id itself. Throws `CommandFailed`. */
export async function findByEmail(client: RemoteClient, path: string, named: string): Promise<string> {
  if (!named.includes('@')) return named;
  const email = named.toLowerCase();
  const query = path.endsWith('/users') ? { q: email } : {};
  const found = (await listAll(client, path, query)).find((item) => textMember(item, 'email') === email);
  const id = textMember(found, 'id');
  if (id === undefined) throw new CommandFailed('refused', `nobody has the address ${named}`, 'not_found');
  return id;
}
