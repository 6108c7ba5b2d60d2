// `bulkhead whoami`: the place where commands work, and as whom.
import { RemoteClient } from '../remote/client.ts';
import { CommandFailed } from '../remote/failure.ts';
import { listMember, textMember } from '../remote/members.ts';
import type { Place } from '../remote/place.ts';
import { printJson, printMembers } from '../remote/print.ts';
import { remoteCommand } from './remote-command.ts';

/** Shows who is signed in. */
export const whoami = remoteCommand({
  name: 'whoami',
  description: 'Show where commands work and as whom, after asking the server.',
  level: 'app',
  run: async ({ place, client, json }) => {
    if (place.token === undefined) {
      throw new CommandFailed(
        'unauthorized',
        `nobody is signed in to ${place.url}; sign in: bulkhead login --url ${place.url}`,
      );
    }
    const { url, workspace, app, login } = place;
    const me = await askServer(client, place);
    const found = {
      url,
      name: login?.name ?? textMember(me, 'email') ?? textMember(me, 'username') ?? textMember(me, 'name') ??
        null,
      role: textMember(me, 'role') ?? null,
      workspace: workspace ?? null,
      app: app ?? null,
      token: login === undefined ? 'BULKHEAD_TOKEN' : `key ${login.key.id}`,
      expires_at: login?.key.expires_at ?? textMember(me, 'expires_at') ?? null,
    };
    return json ? printJson(found) : printMembers(found);
  },
});

/** A principal is shown by a workspace; a key of the server also where there is none yet. */
async function askServer(client: RemoteClient, place: Place): Promise<unknown> {
  const { body: list } = await client.request('/api/workspaces', { query: { per_page: '1' }, accept: [403] });
  const workspace = place.workspace ?? textMember(listMember(list, 'items')[0], 'id');
  if (workspace === undefined) return {};
  const path = `/api/workspaces/${encodeURIComponent(workspace)}/auth/me`;
  return (await client.request(path, { accept: [404] })).body;
}
