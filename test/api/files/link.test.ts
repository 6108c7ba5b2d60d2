// How long a link to a file is good, to the second.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { makeLink, requireLink } from '../../../api/files/link.ts';
import { Secrets } from '../../../storage/secrets.ts';

const secrets = new Secrets(randomBytes(32));
const now = new Date('2026-01-02T03:04:05.678Z');
const times = { created_at: now, updated_at: now };
const workspace = { id: 'acme', name: 'Acme', database: 'w', ...times };
const app = { workspace, id: 'shop', name: 'Shop', schema: 'a', collections: new Map(), ...times };
const id = '0198a2b4-1111-7222-8333-abcdefabcdef';
const file = { id, filename: 'f', mime: 'text/plain', size: 1, uploaded_by: null, created_at: now };

it('a link is good up to the moment at which it says that it expires, and not in it', () => {
  const { url, expires_at } = makeLink({ secrets }, app, { file, seconds: 60, now });
  const query = new URL(url, 'http://localhost').searchParams;
  const open = (id: string, at: number) =>
    requireLink({ secrets }, app, {
      id,
      expires: Number(query.get('expires')),
      signature: query.get('signature') ?? '',
      now: new Date(at),
    });
  expect(expires_at).toEqual(new Date('2026-01-02T03:05:05.000Z'));
  open(id, expires_at.getTime() - 1);
  open(id.toUpperCase(), expires_at.getTime() - 1);
  expect(() => open(id, expires_at.getTime())).toThrow('this link has expired');
});
