// Records that are sent as forms, with their files.
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiResponse, as, type Caller, expectOk, serverUrl } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { authorization, get } from '../../../harness/file-app.ts';
import { sendRaw } from '../../../harness/raw-requests.ts';
import { type EndUser, type Scenario, scenario, title } from '../../../harness/scenario.ts';

type Part = [name: string, value: string | Blob, filename?: string];

let app: Scenario;
let user: EndUser;
let other: EndUser;
let albums: string;

beforeAll(async () => {
  app = await scenario({
    collections: {
      albums: [
        { ...title, required: true },
        { name: 'cover', kind: 'file', max_size: 10, mime: ['image/*'] },
        { name: 'scans', kind: 'file', many: true, max: 3 },
        { name: 'count', kind: 'number' },
        { name: 'open', kind: 'bool' },
        { name: 'meta', kind: 'json' },
        { name: 'tags', kind: 'select', options: ['a', 'b', 'c'], many: true },
        { name: 'code', kind: 'text', unique: true },
        { name: 'owner', kind: 'relation', target: 'users' },
      ],
      swapped: [title, { name: 'scan', kind: 'file' }],
    },
    rules: {
      albums: {
        create: "title != 'refused'",
        update: 'owner = @request.auth.id',
        get: 'owner = @request.auth.id',
      },
      swapped: { create: 'any', get: 'any' },
    },
    hooks: {
      'swap.js': `
        onRecordBeforeCreate('swapped', (e) => {
          if (e.record.fields.title === 'vetoed') throw new Error('no');
          if (e.record.fields.title === 'emptied') e.record.fields.scan = null;
        });`,
    },
  });
  albums = app.records('albums');
  [user, other] = [await app.user(), await app.user()];
});

const png = (content: string) => new Blob([content], { type: 'image/png' });

async function sendForm(
  { caller, method = 'POST', path = albums }: { caller: Caller; method?: string; path?: string },
  ...parts: Part[]
): Promise<ApiResponse> {
  const form = new FormData();
  for (const [name, value, filename] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, filename);
  }
  const response = await fetch(serverUrl() + path, { method, headers: authorization(caller), body: form });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

/** The names of all files of the app. */
async function filesOf(): Promise<string[]> {
  const { items } = expectOk(await app.admin.get(`${app.app.path}/files?per_page=200`));
  return items.map(({ id }: { id: string }) => id).sort();
}

/** Expects that a request leaves no file behind. */
async function leavesNothing(work: () => Promise<unknown>): Promise<void> {
  const before = await filesOf();
  await work();
  expect(await filesOf()).toEqual(before);
}

describe('a form', () => {
  it('creates a record with its files, and values of all kinds', async () => {
    const { id, fields } = expectOk(
      await sendForm(
        { caller: user },
        ['title', 'Sea – 海'],
        ['cover', png('picture'), 'über.png'],
        ['scans', png('1'), 'one.png'],
        ['scans', new Blob(['2']), '../../etc/two.bin'],
        ['count', '12.5'],
        ['open', 'true'],
        ['meta', '{"a":[1,9007199254740993]}'],
        ['tags', 'b'],
        ['tags', 'a'],
        ['code', ''],
        ['owner', user.id],
      ),
    );
    expect(fields).toMatchObject({ title: 'Sea – 海', count: 12.5, open: true, tags: ['b', 'a'], code: '' });
    expect((await user.get(`${albums}/${id}`)).text).toContain('"meta":{"a":[1,9007199254740993]}');
    const ids: string[] = [fields.cover, ...fields.scans];
    const metas = await Promise.all(ids.map(async (id) => {
      const { filename, mime, size } = expectOk(await user.get(`${app.app.path}/files/${id}/meta`));
      return [filename, mime, size];
    }));
    expect(metas).toEqual([
      ['über.png', 'image/png', 7],
      ['one.png', 'image/png', 1],
      ['two.bin', 'application/octet-stream', 1],
    ]);
    const bytes = await get(user, `${app.app.path}/files/${ids[0]}`);
    expect(await bytes.text()).toBe('picture');
    // Whoever may not get the record reads nothing of them.
    for (const id of ids) {
      expect((await get(other, `${app.app.path}/files/${id}`)).status).toBe(403);
      expect((await get(as(), `${app.app.path}/files/${id}`)).status).toBe(401);
    }
  });

  it('changes a record: a file takes the place of another, is added, or cleared', async () => {
    const created = expectOk(
      await sendForm({ caller: user }, ['title', 'x'], ['owner', user.id], ['scans', png('1'), 'a']),
    );
    const at = { caller: user, method: 'PATCH', path: `${albums}/${created.id}` };
    const added = expectOk(await sendForm(at, ['scans+', png('2'), 'b'], ['cover', png('3'), 'c'])).fields;
    expect(added.scans).toEqual([created.fields.scans[0], expect.any(String)]);
    expect(added.cover).toEqual(expect.any(String));
    const emptied =
      expectOk(await sendForm(at, ['cover', ''], ['scans', added.scans[1]], ['count', ''])).fields;
    expect(emptied).toMatchObject({ cover: null, scans: [added.scans[1]], count: null, title: 'x' });
  });

  it('takes JSON beside its files, and ignores an input in which no file was chosen', async () => {
    const { fields } = expectOk(
      await sendForm(
        { caller: user },
        ['@jsonPayload', JSON.stringify({ title: 'json', count: 3, tags: ['c'], meta: { deep: [null] } })],
        ['cover', new Blob([]), ''],
        ['scans', png('1'), 'a'],
      ),
    );
    expect(fields).toMatchObject({
      title: 'json',
      count: 3,
      tags: ['c'],
      meta: { deep: [null] },
      cover: null,
    });
    expect(fields.scans).toHaveLength(1);
  });

  it('of somebody without a token puts files into a record that the rule admits, and into no other', async () => {
    const { fields } = expectOk(await sendForm({ caller: as() }, ['title', 'x'], ['cover', png('1'), 'a']));
    expect(fields.cover).toEqual(expect.any(String));
    // The file of the form is no way to one that was there before.
    await leavesNothing(async () => {
      const stolen = await sendForm({ caller: as() }, ['title', 'x'], ['scans', fields.cover], [
        'scans',
        png('1'),
        'a',
      ]);
      expectError(stolen, 400, 'validation');
      expect(stolen.body.errors).toMatchObject([{ path: 'scans' }]);
    });
  });

  it('updates the record with the same unique values, with on_conflict', async () => {
    const path = `${albums}?on_conflict=code`;
    const first = await sendForm({ caller: user, path }, ['title', 'x'], ['code', 'k'], ['owner', user.id]);
    expect(first.status).toBe(201);
    const again = await sendForm({ caller: user, path }, ['title', 'y'], ['code', 'k'], [
      'cover',
      png('1'),
      'a',
    ]);
    expect([again.status, again.body.id, again.body.fields.title]).toEqual([200, first.body.id, 'y']);
    expect(again.body.fields.cover).toEqual(expect.any(String));
    await leavesNothing(async () => {
      expectError(
        await sendForm({ caller: other, path }, ['title', 'z'], ['code', 'k'], ['cover', png('1'), 'a']),
        403,
        'forbidden',
      );
    });
  });
});

describe('a form that is refused', () => {
  const refused: Record<string, [status: number, path: string | undefined, ...Part[]]> = {
    'by a rule': [403, undefined, ['title', 'refused'], ['cover', png('1'), 'a']],
    'for a required field': [400, 'title', ['cover', png('1'), 'a']],
    'for an unknown field': [400, 'nothing', ['title', 'x'], ['cover', png('1'), 'a'], ['nothing', '1']],
    'for a file in an unknown field': [400, 'nothing', ['title', 'x'], ['cover', png('1'), 'a'], [
      'nothing',
      png('1'),
      'a',
    ]],
    'for a file in another field': [400, 'count', ['title', 'x'], ['cover', png('1'), 'a'], [
      'count',
      png('1'),
      'a',
    ]],
    'for a large file': [400, 'cover', ['title', 'x'], ['scans', png('1'), 'a'], [
      'cover',
      png('12345678901'),
      'a',
    ]],
    'for the type of a file': [400, 'cover', ['title', 'x'], ['scans', png('1'), 'a'], [
      'cover',
      new Blob(['1']),
      'a',
    ]],
    'for two files in a field': [400, 'cover', ['title', 'x'], ['cover', png('1'), 'a'], [
      'cover',
      png('1'),
      'a',
    ]],
    'for two values': [400, 'count', ['title', 'x'], ['cover', png('1'), 'a'], ['count', '1'], [
      'count',
      '2',
    ]],
    'for a value that is in the JSON, too': [400, 'count', ['@jsonPayload', '{"title":"x","count":1}'], [
      'cover',
      png('1'),
      'a',
    ], ['count', '2']],
    'for too many files in a field': [
      400,
      'scans',
      ['title', 'x'],
      ...[1, 2, 3, 4].map((n): Part => ['scans', png(`${n}`), 'a']),
    ],
    'for a number': [400, 'count', ['title', 'x'], ['cover', png('1'), 'a'], ['count', '0x1']],
    'for JSON': [400, 'meta', ['title', 'x'], ['cover', png('1'), 'a'], ['meta', '{"__proto__":1}']],
    'for NUL': [400, 'title', ['title', 'a\0b'], ['cover', png('1'), 'a']],
    'for __proto__': [400, '__proto__', ['title', 'x'], ['cover', png('1'), 'a'], ['__proto__', '1']],
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
      const vetoed = await sendForm({ caller: user, path }, ['title', 'vetoed'], ['scan', png('1'), 'a']);
      expectError(vetoed, 400, 'hook_veto');
      const emptied = await sendForm({ caller: user, path }, ['title', 'emptied'], ['scan', png('1'), 'a']);
      expect(expectOk(emptied).fields.scan).toBeNull();
    });
    const kept = await sendForm({ caller: user, path }, ['title', 'x'], ['scan', png('1'), 'a']);
    expect(expectOk(kept).fields.scan).toEqual(expect.any(String));
  });

  it('for a record that is not there, or of somebody else, stores nothing', async () => {
    const { id } = expectOk(await sendForm({ caller: user }, ['title', 'x'], ['owner', user.id]));
    await leavesNothing(async () => {
      const part: Part = ['cover', png('1'), 'a'];
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

  it('because a quota is used up leaves no file, and those that are refused count for none', async () => {
    const { length } = await filesOf();
    await app.setQuota('files', length + 2);
    const files: Part[] = [['title', 'x'], ['scans', png('1'), 'a'], ['scans', png('2'), 'b']];
    await leavesNothing(async () => {
      for (let attempt = 0; attempt < 3; attempt++) {
        expectError(await sendForm({ caller: user }, ...files, ['count', 'many']), 400, 'validation');
      }
      const third = await sendForm({ caller: user }, ...files, ['scans', png('3'), 'c']);
      expectError(third, 403, 'quota_exceeded');
    });
    expectOk(await sendForm({ caller: user }, ...files));
  });
});
