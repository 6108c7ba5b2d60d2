// The pages with commands to type, one after the other on one server, as a newcomer follows them: each leads to what it promises,
// and leaves nothing that a later one trips over.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { codesIn, follow } from '../harness/documentation-page.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const folder = join(import.meta.dirname, '../../docs/how-to');
let server: TestServer;

beforeAll(async () => {
  // The page about OAuth has a provider on this machine.
  server = await startServer({ config: { egress: { private_hosts: 'loopback' } } });
});
afterAll(() => server.stop());

/** In the order of the README, and the errors that each page leads to on purpose. */
const pages: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['hook_veto'],
  // What is another answer on a new server, `test/process/readme.test.ts` sees.
  'docs/tutorial/first-backend.md': ['unauthorized', 'conflict', 'forbidden', 'validation', 'who_are_you'],
  'docs/tutorial/issue-tracker.md': ['conflict', 'forbidden'],
  'docs/how-to/sign-in.md': ['conflict', 'validation', 'bad_credentials', 'unauthorized'],
  'docs/how-to/oauth.md': ['conflict', 'validation'],
  'docs/how-to/access-rules.md': ['conflict', 'forbidden', 'unauthorized'],
  'docs/how-to/views.md': ['conflict'],
  'docs/how-to/realtime.md': ['conflict'],
  'docs/how-to/front-ends.md': ['conflict'],
  'docs/how-to/hooks.md': ['conflict', 'no_post', 'hook_error', 'hook_veto'],
  'docs/how-to/app-origins.md': [],
  'docs/how-to/files.md': ['conflict', 'payload_too_large', 'unauthorized', 'unauthorized'],
  'docs/how-to/policies.md': ['conflict', 'policy_violation', 'validation', 'quota_exceeded'],
  'docs/how-to/audit.md': ['conflict', 'bad_credentials'],
  'docs/how-to/api-keys.md': ['conflict', 'forbidden', 'unauthorized'],
  'docs/how-to/send-mail.md': ['conflict'],
};

describe('the pages, one after the other', () => {
  it.each(Object.entries(pages))(
    '%s leads to what it shows, with no error but its own',
    async (page, codes) => {
      const instead = { '9001': String(await freePort()) };
      // The first `conflict` is the setup, which the first page has done.
      expect(codesIn(await follow(page, { server, instead }))).toEqual(codes);
    },
  );

  it('are all the how-to pages with commands to type, but those that start or stop a server', () => {
    const others = ['back-up-and-restore', 'start-a-project', 'start-over', 'use-in-ci'].map((name) =>
      `docs/how-to/${name}.md`
    );
    const typed = readdirSync(folder).filter((page) =>
      /^```sh$/m.test(readFileSync(join(folder, page), 'utf8'))
    ).map((page) => `docs/how-to/${page}`);
    const followed = Object.keys(pages).filter((page) => page.startsWith('docs/how-to/'));
    expect(typed.sort()).toEqual([...followed, ...others].sort());
  });
});
