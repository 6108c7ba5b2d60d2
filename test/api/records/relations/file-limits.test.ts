// Fields of kind `file` that take some files only.
import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, expectOk } from '../../../harness/api.ts';
import { expectError } from '../../../harness/expectations.ts';
import { upload } from '../../../harness/file-app.ts';
import { type EndUser, type Scenario, scenario } from '../../../harness/scenario.ts';

const fields = [
  { name: 'picture', kind: 'file', max_size: 5, mime: ['image/*', 'application/pdf'] },
  { name: 'pictures', kind: 'file', many: true, max_size: 5, mime: ['image/*'] },
];

let app: Scenario;
let ada: EndUser;
let bob: EndUser;
let posts: string;

beforeAll(async () => {
  app = await scenario({
    collections: { posts: fields, hooked: fields },
    rules: { posts: { create: 'auth', update: 'auth' } },
    hooks: {
      'files.ts':
        `onRecordBeforeCreate('hooked', (e) => { e.record.fields.picture = e.record.fields.pictures[0]; });`,
    },
  });
  [ada, bob] = [await app.user(), await app.user()];
  posts = app.records('posts');
});

async function file(content: string, type: string, caller: Caller = ada): Promise<string> {
  return (await upload(caller, app.app, content, { type })).id;
}

describe('a file field with limits', () => {
  it('takes files within them, on creates and updates', async () => {
    const [png, pdf] = [await file('12345', 'image/png; q="x"'), await file('1', 'Application/PDF')];
    const { id, fields } = expectOk(await ada.post(posts, { picture: png, pictures: [png] }));
    expect(fields).toEqual({ picture: png, pictures: [png] });
    expectOk(await ada.patch(`${posts}/${id}`, { picture: pdf }));
  });

  it('names the field of a file that is too large, or of another type', async () => {
    const [png, large, text] = [
      await file('1', 'image/png'),
      await file('123456', 'image/png'),
      await file('1', 'text/plain'),
    ];
    const { id } = expectOk(await ada.post(posts, { pictures: [png] }));
    const type = 'the file is of type text/plain, and must be of image/*';
    for (
      const response of [
        await ada.post(posts, { picture: large, pictures: [png, text] }),
        await app.admin.patch(`${posts}/${id}`, { picture: large, pictures: [text] }),
      ]
    ) {
      expectError(response, 400, 'validation');
      expect(response.body.message).toBe(
        `picture: the file has 6 bytes, and at most 5 are allowed; pictures: ${type}`,
      );
    }
    const added = await ada.patch(`${posts}/${id}`, { 'pictures+': [text] });
    expect(added.body.message).toBe(`pictures: ${type}`);
    const hooked = await app.admin.post(app.records('hooked'), { pictures: [large] });
    expectError(hooked, 400, 'validation');
  });

  it('says nothing of files that the caller may not read', async () => {
    const [text, png] = [await file('1234567', 'text/plain', bob), await file('1', 'image/png', bob)];
    for (const picture of [text, png]) {
      const refused = await ada.post(posts, { picture });
      expectError(refused, 400, 'validation');
      expect(refused.body.message).toBe('picture: there is no file with this id');
    }
  });

  it.each([
    [{ max_size: 0 }, 'max_size', 'must be a whole number of bytes from 1'],
    [{ mime: [] }, 'mime', 'must list 1 to 50 types'],
    [{ mime: ['image'] }, 'mime', 'must be media types in lower case, such as application/pdf or image/*'],
    [{ mime: ['*/*'] }, 'mime', 'must be media types in lower case, such as application/pdf or image/*'],
    [{ kind: 'text', mime: ['image/*'] }, 'mime', 'is not a setting of text fields'],
    [{ kind: 'text', delete_with_record: true }, 'delete_with_record', 'is not a setting of text fields'],
  ])('is not declared with %j', async (setting, name, message) => {
    const declared = [{ name: 'field', kind: 'file', ...setting }];
    const refused = await app.admin.post(app.collections, { schema: { id: 'refused', fields: declared } });
    expectError(refused, 400, 'validation');
    expect(refused.body.errors).toEqual([{ path: `schema.fields.field.${name}`, code: 'invalid', message }]);
  });
});
