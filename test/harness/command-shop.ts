// A new server with a shop, and a user of the command line whose environment names it.
import type { Caller } from './api.ts';
import { startServer, type TestServer } from './server.ts';
import { makeShop, setUp } from './set-up.ts';
import { type CommandUser, makeCommandUser } from './user-folder.ts';

/** A server, its master, and a user who works as that. */
export interface CommandShop {
  server: TestServer;
  master: Caller;
  user: CommandUser;
  close(): Promise<void>;
}

/** Starts a server, and makes workspace `acme` with app `shop` there. */
export async function openCommandShop(): Promise<CommandShop> {
  const server = await startServer();
  const master = await setUp(server.url);
  await makeShop(master);
  const user = await makeCommandUser({
    BULKHEAD_URL: server.url,
    BULKHEAD_TOKEN: master.token ?? '',
    BULKHEAD_WORKSPACE: 'acme',
    BULKHEAD_APP: 'shop',
  });
  return {
    server,
    master,
    user,
    close: async () => {
      await user.remove();
      await server.stop();
    },
  };
}
