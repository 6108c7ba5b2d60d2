// The texts of messages.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ServerMessage } from '../../../api/mail/message.ts';
import { render } from '../../../api/mail/templates.ts';

const writtenAt = new Date('2026-01-02T03:04:05.678Z');
const message: ServerMessage = {
  workspace: 'acme',
  kind: 'otp',
  to: `"a<b>"'&@example.com`,
  secret: '012345',
  lifeSeconds: 600,
  discard: false,
};
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bulkhead-mail-'));
});
afterAll(() => rm(folder, { recursive: true }));

it.each([[29, 1], [89, 1], [90, 2], [600, 10], [3_600, 60]])(
  'a secret that is good for %i seconds is said to be good for %i minutes',
  async (lifeSeconds, minutes) => {
    const { text } = await render({ message: { ...message, lifeSeconds }, writtenAt }, folder);
    expect(text).toContain(`It works once, for ${minutes} minutes.`);
  },
);

it('a text of the operator has the values that it names, and keeps what names none', async () => {
  const names =
    '{{secret}} {{time}} {{minutes}} {{email}} {{workspace}} {{constructor}} {{Secret}} {{ secret }}';
  await writeFile(join(folder, 'otp.txt'), names);
  await writeFile(join(folder, 'otp.html'), names);
  const { subject, text, html } = await render({ message, writtenAt }, folder);
  const [before, after] = [
    '012345 2026-01-02T03:04:05.678Z 10',
    'acme {{constructor}} {{Secret}} {{ secret }}',
  ];
  expect(text).toBe(`${before} ${message.to} ${after}`);
  expect(html).toBe(`${before} &#34;a&#60;b&#62;&#34;&#39;&#38;@example.com ${after}`);
  expect(subject).toBe('Your code to log in');
});
