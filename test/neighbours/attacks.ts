// The attacks: each is what one workspace does at its worst.
import { randomUUID } from 'node:crypto';
import { renderRequest } from '../bench/load.ts';
import type { Load } from './plan.ts';
import { anyAddress, type Evil, makeApp } from './stage.ts';

/** How much of it: `small` for every run of the tests, `full` about as much as those had who attacked version 0.1.0. */
export type Size = 'small' | 'full';

/** Makes what an attack needs, and says what is then sent. */
export type Attack = (evil: Evil, size: Size) => Promise<Load>;

/** One of an attacker's requests; each comes from an address of its own. */
function from(evil: Evil, method: string, path: string, body?: unknown): string {
  const rendered = renderRequest({ method, path: evil.path + path, token: evil.token, body });
  return rendered.replace('\r\n', `\r\nX-Forwarded-For: ${anyAddress()}\r\n`);
}

const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_unused, index) => make(index));

/** Apps with one hook file each. */
async function hookedApps(evil: Evil, count: number, source: string): Promise<string[]> {
  const ids = many(count, (index) => `app${index}`);
  for (const id of ids) {
    await makeApp(evil.send, id);
    await evil.send('PUT', `/apps/${id}/hooks/evil.js`, { source });
  }
  return ids;
}

/** An app with a collection that has so many records of so many letters. */
async function filledApp(
  evil: Evil,
  id: string,
  { records, letters }: Record<'records' | 'letters', number>,
): Promise<string> {
  await makeApp(evil.send, id, 'texts');
  const title = () => randomUUID().repeat(Math.ceil(letters / 36)).slice(0, letters);
  const each = Math.max(1, Math.min(50, Math.floor(1_000_000 / letters)));
  for (let made = 0; made < records; made += each) {
    const requests = many(
      Math.min(each, records - made),
      () => ({ method: 'POST', collection: 'texts', body: { title: title() } }),
    );
    await evil.send('POST', `/apps/${id}/batch`, { requests });
  }
  return `/apps/${id}/collections/texts/records`;
}

const filter = encodeURIComponent(many(60, (index) => `title ~ 'nowhere ${index}'`).join(' || '));

/** The attacks by name. */
export const attacks: Record<string, Attack> = {
  'streams and calls that hold every runner': async (evil, size) => {
    const apps = await hookedApps(
      evil,
      size === 'full' ? 100 : 12,
      `
      routerAdd('GET', '/hold', () => new Response(new ReadableStream({
        async pull(c) { await new Promise((r) => setTimeout(r, 15000)); c.enqueue(new Uint8Array([46])); },
      })));
      routerAdd('GET', '/wait', () => new Promise(() => {}));`,
    );
    const requests = (path: string) => apps.map((id) => from(evil, 'GET', `/apps/${id}/custom/${path}`));
    return {
      loops: [
        { requests: requests('hold'), connections: 128, isHeld: true },
        { requests: requests('wait'), connections: 72 },
      ],
    };
  },
  'jobs that work every second': async (evil, size) => {
    await hookedApps(
      evil,
      size === 'full' ? 30 : 8,
      `for (let i = 0; i < 99; i++) cronAdd('j' + i, '* * * * * *', () => { const end = Date.now() + 50; while (Date.now() < end); });`,
    );
    return {};
  },
  'hooks that work in the background': async (evil, size) => {
    const apps = await hookedApps(
      evil,
      size === 'full' ? 12 : 4,
      `
      routerAdd('GET', '/go', async () => {
        const k = await crypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits']);
        const go = async () => { for (;;) await crypto.subtle.deriveBits(
          { name: 'PBKDF2', hash: 'SHA-512', salt: new Uint8Array(16), iterations: 3e6 }, k, 256); };
        for (let i = 0; i < 8; i++) go();
        return 1;
      });`,
    );
    for (const id of apps) await evil.send('GET', `/apps/${id}/custom/go`);
    return {};
  },
  'hooks that spin in their routes': async (evil, size) => {
    const apps = await hookedApps(
      evil,
      size === 'full' ? 10 : 4,
      `routerAdd('GET', '/spin', () => { for (;;); });`,
    );
    return {
      loops: [{
        requests: apps.map((id) => from(evil, 'GET', `/apps/${id}/custom/spin`)),
        connections: apps.length,
      }],
    };
  },
  'hooks that flood the log': async (evil, size) => {
    const source =
      `routerAdd('GET', '/log', () => { for (let i = 0; i < 5000; i++) console.log('x'.repeat(200)); return 1; });`;
    const apps = await hookedApps(evil, size === 'full' ? 10 : 4, source);
    return {
      loops: [{
        requests: apps.map((id) => from(evil, 'GET', `/apps/${id}/custom/log`)),
        connections: apps.length * 2,
      }],
    };
  },
  'hooks that hold memory': async (evil, size) => {
    const source = `const held = [];
      routerAdd('GET', '/hold', () => { for (let i = 0; i < 20; i++) held.push(new Uint8Array(10e6).fill(1)); return held.length; });`;
    const apps = await hookedApps(evil, size === 'full' ? 15 : 4, source);
    return {
      loops: [{
        requests: apps.map((id) => from(evil, 'GET', `/apps/${id}/custom/hold`)),
        connections: apps.length,
      }],
    };
  },
  'lists of as many bytes as there may be': async (evil, size) => {
    const path = await filledApp(evil, 'large', { records: size === 'full' ? 60 : 15, letters: 900_000 });
    const request = () => from(evil, 'GET', `${path}?per_page=200`);
    return { loops: [{ requests: many(90, request), connections: size === 'full' ? 90 : 20 }] };
  },
  'records of many bytes': async (evil, size) => {
    const path = await filledApp(evil, 'large', { records: 1, letters: 10 });
    const title = 'x'.repeat(size === 'full' ? 8_000_000 : 900_000);
    return { loops: [{ requests: [from(evil, 'POST', path, { title })], connections: 4 }] };
  },
  'sorts of long texts': async (evil, size) => {
    const [apps, records] = size === 'full' ? [24, 200] : [3, 100];
    const requests: string[] = [];
    for (let app = 0; app < apps; app++) {
      const path = await filledApp(evil, `sorted${app}`, { records, letters: 60_000 });
      requests.push(from(evil, 'GET', `${path}?sort=title&per_page=1&skip_total=true`));
    }
    return { loops: [{ requests, connections: apps * 3 }] };
  },
  'filters that read every record': async (evil, size) => {
    const [apps, records] = size === 'full' ? [24, 200] : [3, 100];
    const requests: string[] = [];
    for (let app = 0; app < apps; app++) {
      const path = await filledApp(evil, `filtered${app}`, { records, letters: 60_000 });
      requests.push(from(evil, 'GET', `${path}?filter=${filter}`));
    }
    return { loops: [{ requests, connections: apps * 3 }] };
  },
  'pages of 200 records, sorted': async (evil) => {
    const path = await filledApp(evil, 'pages', { records: 200, letters: 4_000 });
    return {
      loops: [{
        requests: many(50, () => from(evil, 'GET', `${path}?sort=title&per_page=200`)),
        connections: 8,
      }],
    };
  },
  'pipelined /healthz from one address': async () => ({
    loops: [{
      requests: [renderRequest({ method: 'GET', path: '/healthz' })],
      connections: 20,
      pipelined: 90,
    }],
  }),
  'pipelined requests that are refused': async () => ({
    loops: [{
      requests: [renderRequest({ method: 'GET', path: '/api/workspaces' })],
      connections: 20,
      pipelined: 90,
    }],
  }),
  'requests of one address that are refused': async () => ({
    loops: [{ requests: [renderRequest({ method: 'GET', path: '/api/workspaces' })], connections: 20 }],
  }),
  'streams, and hooks that publish to them': async (evil, size) => {
    const id = await makeApp(evil.send, 'fans', 'texts');
    const source = `const data = { text: 'x'.repeat(20000) };
      routerAdd('GET', '/shout', () => { for (let i = 0; i < 90; i++) $app.realtime.publish('texts', 'shout', data); return 1; });`;
    await evil.send('PUT', `${id}/hooks/evil.js`, { source });
    return {
      loops: [streams(evil, id, size), {
        requests: [from(evil, 'GET', `${id}/custom/shout`)],
        connections: 4,
      }],
    };
  },
  'streams, and writers': async (evil, size) => {
    const id = await makeApp(evil.send, 'fans', 'texts');
    const create = () => from(evil, 'POST', `${id}/collections/texts/records`, { title: 'x'.repeat(1_000) });
    return { loops: [streams(evil, id, size), { requests: many(50, create), connections: 4 }] };
  },
  'messages over WebSockets': async (evil) => {
    const id = await makeApp(evil.send, 'chat', 'texts');
    const message = JSON.stringify({ type: 'ping' });
    return { chatter: { path: `${evil.path}${id}/realtime`, sockets: 40, message, burst: 500 } };
  },
  'uploads': async (evil, size) => {
    const id = await makeApp(evil.send, 'files');
    const length = size === 'full' ? 10_000_000 : 1_000_000;
    const head = from(evil, 'POST', `${id}/files`).trimEnd();
    const upload = `${head}\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n\r\n${
      'x'.repeat(length)
    }`;
    return { loops: [{ requests: [upload], connections: 4 }] };
  },
  'logins at once': async (evil, size) => {
    const login = (index: number) =>
      from(evil, 'POST', '/auth/users/login', {
        email: `nobody${index}@example.com`,
        password: 'no password',
      });
    return { loops: [{ requests: many(200, login), connections: size === 'full' ? 200 : 50 }] };
  },
};

function streams(evil: Evil, app: string, size: Size) {
  const request = () => from(evil, 'GET', `${app}/collections/texts/events`);
  const connections = size === 'full' ? 1_000 : 100;
  return { requests: many(connections, request), connections, isHeld: true };
}
