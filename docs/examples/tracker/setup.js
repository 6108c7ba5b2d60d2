// Makes the app of the issue tracker: its collections, and then their rules. Run it again after you have changed a rule.
//
//     BULKHEAD_PASSWORD='…' node docs/examples/tracker/setup.js [url] [workspace] [app]
import { readFile } from 'node:fs/promises';

const [url = 'http://127.0.0.1:8080', workspace = 'demo', app = 'tracker'] = process.argv.slice(2);
/** Each collection after those that its relations point to. */
const collections = ['people', 'projects', 'memberships', 'invitations', 'issues', 'comments'];

/** Sends a request. Returns the response, also if it is `409`: then what it would make is there. */
async function send(method, path, { body, token }) {
  const response = await fetch(url + path, {
    method,
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
  const result = await response.json();
  if (response.ok || response.status === 409) return result;
  throw new Error(`${method} ${path}: ${result.message}`);
}

const read = async (file) => JSON.parse(await readFile(new URL(file, import.meta.url), 'utf8'));

const password = process.env['BULKHEAD_PASSWORD'];
if (password === undefined) throw new Error("set BULKHEAD_PASSWORD to the master admin's password");
const login = { username: 'admin', password };
const { access_token: token } = await send('POST', '/_/auth/admin/login', { body: login });

const apps = `/api/workspaces/${workspace}/apps`;
await send('POST', '/api/workspaces', { token, body: { id: workspace, name: workspace } });
await send('POST', apps, { token, body: { id: app, name: 'Issue tracker' } });
for (const name of collections) {
  await send('POST', `${apps}/${app}/collections`, { token, body: await read(`collections/${name}.json`) });
}
// The rules of a collection may ask for records of any other, so they come when all collections are there.
for (const name of collections) {
  for (const [action, rule] of Object.entries(await read(`rules/${name}.json`))) {
    await send('PUT', `${apps}/${app}/collections/${name}/access_rules/${action}`, { token, body: rule });
  }
}

const { port } = new URL(url);
console.log(`its pages are served at http://${app}--${workspace}.localhost${port && `:${port}`}/`);
