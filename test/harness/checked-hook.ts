// Hook files whose types are to be checked.
import { type ApiResponse, expectOk, type OwnApp } from './api.ts';
import { startServer } from './server.ts';
import { makeShop, setUp } from './set-up.ts';

/** A server of a test's own that checks types, as the shared one does not, with an app. */
export async function checkingServer(): Promise<{ app: OwnApp; stop: () => Promise<void> }> {
  const server = await startServer();
  const admin = await setUp(server.url);
  return { app: { id: 'shop', path: await makeShop(admin), admin }, stop: () => server.stop() };
}

/** Puts a file, and again for as long as a busy machine takes too long to check it. */
export async function putChecked(
  app: OwnApp,
  filename: string,
  source: string,
): Promise<ApiResponse['body']> {
  for (;;) {
    const before = await unchecked(app);
    const response = expectOk(await app.admin.put(`${app.path}/hooks/${filename}`, { source }));
    if (await unchecked(app) === before) return response;
  }
}

/** How often the log says that types were not checked. */
async function unchecked({ admin, path }: OwnApp): Promise<number> {
  const { items } = expectOk(await admin.get(`${path}/hooks/logs?per_page=200`));
  return items.filter(({ message }: { message: string }) => message.includes('were not checked')).length;
}
