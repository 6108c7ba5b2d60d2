// Mail that hooks send.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { hookMailLimits } from '../../../api/app-api/mail.ts';
import { as, expectOk, type OwnApp, ownWorkspace } from '../../harness/api.ts';
import { mailsTo } from '../../harness/mailbox.ts';

let app: OwnApp;

const route = `routerAdd('POST', '/send', async (e) => {
  const { mail, times } = await e.request.json();
  let sent = 0;
  try { for (; sent < times; sent++) await $app.mail.send(mail); }
  catch (error) { return { sent, code: error.code, status: error.status, message: error.message }; }
  return { sent };
});`;

beforeAll(async () => {
  const own = await ownWorkspace();
  app = await own.app();
  expectOk(await app.admin.put(`${app.path}/hooks/send.js`, { source: route }));
});

interface Sent {
  sent: number;
  code?: string;
  status?: number;
  message?: string;
}

async function send(mail: Record<string, unknown>, times = 1, target = app): Promise<Sent> {
  return expectOk(await as().post(`${target.path}/custom/send`, { mail, times }));
}

function someone(): string {
  return `${randomUUID().slice(0, 8)}@example.com`;
}

describe('$app.mail', () => {
  it('sends text, and HTML beside it, from the address of the server', async () => {
    const to = someone();
    expect(await send({ to, subject: 'Grüße', text: 'hello', html: '<b>hello</b>' })).toEqual({ sent: 1 });
    const [mail = ''] = await mailsTo(to);
    expect(mail).toContain('Subject: =?UTF-8?');
    expect(mail).toMatch(/^From: /m);
    expect(mail).toContain('text/plain');
    expect(mail).toContain('<b>hello</b>');
    await send({ to, subject: 'plain', text: 'words alone' });
    expect((await mailsTo(to, 2)).at(-1)).not.toContain('text/html');
  });

  it('takes nothing that would be another header or another recipient', async () => {
    const to = someone();
    const good = { to, subject: 'x', text: 'y' };
    const wrong = [
      { ...good, subject: 'x\r\nBcc: eve@example.com' },
      { ...good, subject: 'x\nBcc: eve@example.com' },
      { ...good, subject: 'x\u0000y' },
      { ...good, subject: '' },
      { ...good, subject: 'x'.repeat(501) },
      { ...good, to: `${to}, eve@example.com` },
      { ...good, to: `${to}\r\nBcc: eve@example.com` },
      { ...good, to: `Eve <${to}>` },
      { ...good, to: 'nobody' },
    ];
    for (const mail of wrong) {
      expect(await send(mail)).toMatchObject({ sent: 0, code: 'validation', status: 400 });
    }
    await send({ ...good, text: 'a\r\n.\r\nBcc: eve@example.com' });
    const [head = ''] = (await mailsTo(to)).map((mail) => mail.split('\n\n', 1)[0]);
    expect(head).not.toContain('eve@');
  });

  it('sends no more than an app may', async () => {
    const own = await ownWorkspace();
    const [busy, other] = [await own.app(), await own.app()];
    for (const target of [busy, other]) {
      expectOk(await target.admin.put(`${target.path}/hooks/send.js`, { source: route }));
    }
    const mail = { to: someone(), subject: 'again', text: 'and again' };
    const { burst } = hookMailLimits;
    const tries = [await send(mail, burst / 2, busy), await send(mail, burst, busy)];
    const sent = tries.reduce((sum, each) => sum + each.sent, 0);
    expect(sent).toBeGreaterThanOrEqual(burst);
    expect(sent).toBeLessThan(burst + 20);
    expect(tries.at(-1)).toMatchObject({ code: 'too_many_requests', status: 429 });
    expect(await send(mail, 1, other)).toEqual({ sent: 1 });
  });
});
