// The how-to pages, followed from an empty server to what each promises.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { codesIn, follow } from '../harness/page.ts';
import { startServer, type TestServer } from '../harness/server.ts';

const folder = join(import.meta.dirname, '../../docs/how-to');
let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.stop());

/** The pages that need nothing but a server, and the errors that each leads to on purpose. */
const pages: Readonly<Record<string, readonly string[]>> = {
  'access-rules.md': ['forbidden', 'unauthorized'],
  'audit.md': ['bad_credentials'],
  'files.md': ['payload_too_large'],
  'oauth.md': ['validation'],
  'policies.md': ['policy_violation', 'validation', 'quota_exceeded'],
  'realtime.md': [],
  'send-mail.md': [],
};

describe('the how-to pages', () => {
  it.each(Object.entries(pages))(
    'docs/how-to/%s leads to what it shows, with no error but its own',
    async (page, codes) => {
      const instead = { '9001': String(await freePort()) };
      expect(codesIn(await follow(`docs/how-to/${page}`, { server, instead }))).toEqual(codes);
    },
  );

  it('are followed by a test where they have commands to type', () => {
    const others = ['back-up-and-restore.md', 'hooks.md', 'start-over.md'];
    const typed = readdirSync(folder).filter((page) =>
      /^```sh$/m.test(readFileSync(join(folder, page), 'utf8'))
    );
    expect(typed.sort()).toEqual([...Object.keys(pages), ...others].sort());
  });
});
