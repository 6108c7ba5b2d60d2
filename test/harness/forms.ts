// Records that are sent as forms (`multipart/form-data`), in an app with albums of pictures.
import { type ApiResponse, type Caller, expectOk, serverUrl } from './api.ts';
import { authorization } from './file-app.ts';
import { type EndUser, type Scenario, scenario, title } from './scenario.ts';

/** A part of a form; a file when its value is one. */
export type FormEntry = [name: string, value: string | Blob, filename?: string];

/** Where a form is sent, and by whom. */
export interface FormRequest {
  caller: Caller;
  method?: string;
  /** The albums, when left out. */
  path?: string;
}

/** The app. */
export interface FormApp {
  app: Scenario;
  /** The path of the albums. Who owns one may get and update it. */
  albums: string;
  user: EndUser;
  other: EndUser;
  sendForm(request: FormRequest, ...parts: FormEntry[]): Promise<ApiResponse>;
  /** The ids of all files of the app. */
  fileIds(): Promise<string[]>;
}

/** Makes it. */
export async function formApp(): Promise<FormApp> {
  const app = await scenario({
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
  const albums = app.records('albums');
  const [user, other] = [await app.user(), await app.user()];
  const fileIds = async () => {
    const { items } = expectOk(await app.admin.get(`${app.app.path}/files?per_page=200`));
    return items.map(({ id }: { id: string }) => id).sort();
  };
  const sendForm = ({ path = albums, ...request }: FormRequest, ...parts: FormEntry[]) =>
    send({ ...request, path }, parts);
  return { app, albums, user, other, fileIds, sendForm };
}

async function send(
  { caller, method = 'POST', path }: FormRequest & { path: string },
  parts: readonly FormEntry[],
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

/** A picture of a few bytes. */
export function picture(content: string): Blob {
  return new Blob([content], { type: 'image/png' });
}
