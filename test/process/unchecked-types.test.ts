// A machine on which types cannot be checked: the author hears that it is none of theirs, the operator hears why.
import { expect, it } from 'vitest';
import { expectOk } from '../harness/api.ts';
import { startServer } from '../harness/server.ts';
import { makeShop, setUp } from '../harness/set-up.ts';

const hooks = '/api/workspaces/acme/apps/shop/hooks';

it('a hook file is in effect where there is no temporary folder, and both logs say why its types are unchecked', async () => {
  const server = await startServer({ temporary: '/nonexistent' });
  try {
    const master = await setUp(server.url);
    await makeShop(master);
    const put = await master.put(`${hooks}/a.ts`, { source: 'const wrong: number = "x";' });
    expect(expectOk(put)).toMatchObject({ reload: { loaded: ['a.ts'], errors: [] }, warnings: [] });
    const log = await master.get(`${hooks}/logs`);
    expect(expectOk(log).items.map(({ message }: { message: string }) => message)).toEqual([
      'the types were not checked: the server could not, and its own log says why',
    ]);
    const line = await server.line('the types of hook files could not be checked');
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      workspace: 'acme',
      app: 'shop',
      error: expect.stringContaining("ENOENT: no such file or directory, mkdtemp '/nonexistent/"),
    });
  } finally {
    await server.stop();
  }
});
