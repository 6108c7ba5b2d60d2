// Records that are sent as forms, with their files.
import { describe, expect, it } from 'vitest';
import { as, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { get } from '../../../harness/file-app.ts';
import { formApp, picture } from '../../../harness/forms.ts';

const { app, albums, user, other, fileIds, sendForm } = await formApp();

/** Expects that a request leaves no file behind. */
async function leavesNothing(work: () => Promise<unknown>): Promise<void> {
  const before = await fileIds();
  await work();
  expect(await fileIds()).toEqual(before);
}

describe('a form', () => {
  it('creates a record with its files, and values of all kinds', async () => {
    const { id, fields } = expectOk(
      await sendForm(
        { caller: user },
        ['title', 'Sea – 海'],
        ['cover', picture('picture'), 'über.png'],
        ['scans', picture('1'), 'one.png'],
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
      await sendForm({ caller: user }, ['title', 'x'], ['owner', user.id], ['scans', picture('1'), 'a']),
    );
    const at = { caller: user, method: 'PATCH', path: `${albums}/${created.id}` };
    const added =
      expectOk(await sendForm(at, ['scans+', picture('2'), 'b'], ['cover', picture('3'), 'c'])).fields;
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
        ['scans', picture('1'), 'a'],
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
    const { fields } = expectOk(
      await sendForm({ caller: as() }, ['title', 'x'], ['cover', picture('1'), 'a']),
    );
    expect(fields.cover).toEqual(expect.any(String));
    // The file of the form is no way to one that was there before.
    await leavesNothing(async () => {
      const stolen = await sendForm({ caller: as() }, ['title', 'x'], ['scans', fields.cover], [
        'scans',
        picture('1'),
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
      picture('1'),
      'a',
    ]);
    expect([again.status, again.body.id, again.body.fields.title]).toEqual([200, first.body.id, 'y']);
    expect(again.body.fields.cover).toEqual(expect.any(String));
    await leavesNothing(async () => {
      expectError(
        await sendForm({ caller: other, path }, ['title', 'z'], ['code', 'k'], ['cover', picture('1'), 'a']),
        403,
        'forbidden',
      );
    });
  });
});
