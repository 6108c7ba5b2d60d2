// Forms that are refused: none of their files stays.
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { expectOk, serverUrl } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { formApp, type FormEntry, picture } from '../../../harness/forms.ts';
import { sendRaw } from '../../../harness/raw-requests.ts';

const { app, albums, user, other, fileIds, sendForm } = await formApp();

/** Expects that a request leaves no file behind. */
async function leavesNothing(work: () => Promise<unknown>): Promise<void> {
  const before = await fileIds();
  await work();
  expect(await fileIds()).toEqual(before);
}

describe('a form that is refused', () => {
  const refused: Record<string, [status: number, path: string | undefined, ...FormEntry[]]> = {
    'by a rule': [403, undefined, ['title', 'refused'], ['cover', picture('1'), 'a']],
    'for a required field': [400, 'title', ['cover', picture('1'), 'a']],
    'for an unknown field': [400, 'nothing', ['title', 'x'], ['cover', picture('1'), 'a'], ['nothing', '1']],
    'for a file in an unknown field': [400, 'nothing', ['title', 'x'], ['cover', picture('1'), 'a'], [
      'nothing',
      picture('1'),
      'a',
    ]],
    'for a file in another field': [400, 'count', ['title', 'x'], ['cover', picture('1'), 'a'], [
      'count',
      picture('1'),
      'a',
    ]],
    'for a large file': [400, 'cover', ['title', 'x'], ['scans', picture('1'), 'a'], [
      'cover',
      picture('12345678901'),
      'a',
    ]],
    'for the type of a file': [400, 'cover', ['title', 'x'], ['scans', picture('1'), 'a'], [
      'cover',
      new Blob(['1']),
      'a',
    ]],
    'for two files in a field': [400, 'cover', ['title', 'x'], ['cover', picture('1'), 'a'], [
      'cover',
      picture('1'),
      'a',
    ]],
    'for two values': [400, 'count', ['title', 'x'], ['cover', picture('1'), 'a'], ['count', '1'], [
      'count',
      '2',
    ]],
    'for a value that is in the JSON, too': [400, 'count', ['@jsonPayload', '{"title":"x","count":1}'], [
      'cover',
      picture('1'),
      'a',
    ], ['count', '2']],
    'for too many files in a field': [
      400,
      'scans',
      ['title', 'x'],
      ...[1, 2, 3, 4].map((n): FormEntry => ['scans', picture(`${n}`), 'a']),
    ],
    'for a number': [400, 'count', ['title', 'x'], ['cover', picture('1'), 'a'], ['count', '0x1']],
    'for JSON': [400, 'meta', ['title', 'x'], ['cover', picture('1'), 'a'], ['meta', '{"__proto__":1}']],
    'for NUL': [400, 'title', ['title', 'a\0b'], ['cover', picture('1'), 'a']],
    'for __proto__': [400, '__proto__', ['title', 'x'], ['cover', picture('1'), 'a'], ['__proto__', '1']],
  };
  it.each(Object.entries(refused))('%s leaves no file', async (_, [status, path, ...parts]) => {
    await leavesNothing(async () => {
      const response = await sendForm({ caller: user }, ...parts);
      expect([response.status, response.body.errors?.[0]?.path]).toEqual([status, path]);
    });
  });

  it('by a hook leaves no file, nor does a field that a hook empties', async () => {
    const path = app.records('swapped');
    await leavesNothing(async () => {
      const vetoed = await sendForm({ caller: user, path }, ['title', 'vetoed'], ['scan', picture('1'), 'a']);
      expectError(vetoed, 400, 'hook_veto');
      const emptied = await sendForm({ caller: user, path }, ['title', 'emptied'], [
        'scan',
        picture('1'),
        'a',
      ]);
      expect(expectOk(emptied).fields.scan).toBeNull();
    });
    const kept = await sendForm({ caller: user, path }, ['title', 'x'], ['scan', picture('1'), 'a']);
    expect(expectOk(kept).fields.scan).toEqual(expect.any(String));
  });

  it('for a record that is not there, or of somebody else, stores nothing', async () => {
    const { id } = expectOk(await sendForm({ caller: user }, ['title', 'x'], ['owner', user.id]));
    await leavesNothing(async () => {
      const part: FormEntry = ['cover', picture('1'), 'a'];
      const missing = `${albums}/${crypto.randomUUID()}`;
      expectError(await sendForm({ caller: user, method: 'PATCH', path: missing }, part), 404, 'not_found');
      expectError(
        await sendForm({ caller: other, method: 'PATCH', path: `${albums}/${id}` }, part),
        403,
        'forbidden',
      );
    });
  });

  it('because it breaks off, or is none, leaves no file', async () => {
    const head = (headers: string) =>
      `POST ${albums} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${user.token}\r\n` +
      `Connection: close\r\n${headers}\r\n\r\n`;
    const part =
      '--x\r\nContent-Disposition: form-data; name="cover"; filename="a"\r\nContent-Type: image/png\r\n\r\n1\r\n';
    await leavesNothing(async () => {
      for (
        const [type, body] of [
          ['multipart/form-data', part],
          ['multipart/form-data; boundary=x', part],
          ['multipart/form-data; boundary=x', `${part}--y--`],
          ['multipart/form-data; boundary=x', `${part}--x\r\n\r\n\r\n--x--`],
          ['multipart/mixed; boundary=x', `${part}--x--`],
        ]
      ) {
        const { status } = await sendRaw(
          serverUrl(),
          `${head(`Content-Type: ${type}\r\nContent-Length: ${body?.length}`)}${body}`,
        );
        expect([type, body, status]).toEqual([type, body, 422]);
      }
    });
  });

  it('because its client has gone leaves no file, though the first was stored', async () => {
    const before = await fileIds();
    const { hostname, port } = new URL(serverUrl());
    const socket = connect(Number(port), hostname);
    const part = (filename: string) =>
      `--x\r\nContent-Disposition: form-data; name="scans"; filename="${filename}"\r\n\r\n1\r\n`;
    socket.write(
      `POST ${albums} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${user.token}\r\n` +
        `Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 10000\r\n\r\n${part('a')}${
          part('b')
        }`,
    );
    await expect.poll(async () => (await fileIds()).length).toBe(before.length + 1);
    socket.destroy();
    await expect.poll(fileIds).toEqual(before);
  });

  it('because a quota is used up leaves no file, and those that are refused count for none', async () => {
    const { length } = await fileIds();
    await app.setQuota('files', length + 2);
    const files: FormEntry[] = [['title', 'x'], ['scans', picture('1'), 'a'], ['scans', picture('2'), 'b']];
    await leavesNothing(async () => {
      for (let attempt = 0; attempt < 3; attempt++) {
        expectError(await sendForm({ caller: user }, ...files, ['count', 'many']), 400, 'validation');
      }
      const third = await sendForm({ caller: user }, ...files, ['scans', picture('3'), 'c']);
      expectError(third, 403, 'quota_exceeded');
    });
    expectOk(await sendForm({ caller: user }, ...files));
  });
});
