// The API of the app at whose origin the page is. The session is in cookies, which no script can read.

const [app, workspace] = location.hostname.split('.')[0].split('--');
/** Where users sign in, and where the app's collections and files are. */
export const paths = {
  auth: `/api/workspaces/${workspace}/auth`,
  app: `/api/workspaces/${workspace}/apps/${app}`,
};

/** An error response. `errors` has one `{ path, message }` for each wrong member of the body. */
export class ApiError extends Error {
  constructor(status, { code, message, errors = [] }) {
    super(message);
    Object.assign(this, { status, code, errors });
  }
}

/** Sends a request, and once more with a new access token if the old one has expired. Returns the JSON response. */
export async function request(method, path, body, headers = {}) {
  try {
    return await send(method, path, body, headers);
  } catch (error) {
    if (error.code !== 'unauthorized' || !await renew()) throw error;
    return await send(method, path, body, headers);
  }
}

async function send(method, path, body, headers) {
  const isJson = body !== undefined && !(body instanceof Blob);
  const response = await fetch(path, {
    method,
    headers: isJson ? { 'Content-Type': 'application/json', ...headers } : headers,
    body: isJson ? JSON.stringify(body) : body,
  });
  const result = await response.json();
  if (!response.ok) throw new ApiError(response.status, result);
  return result;
}

let renewal;

/** Gets a new access token with the refresh cookie. Returns false if the session has ended. */
export function renew() {
  renewal ??= send('POST', '/_/auth/refresh', {}, {}).then(() => true, () => false)
    .finally(() => renewal = undefined);
  return renewal;
}

/** The records of a collection. */
export const records = (collection) => {
  const path = `${paths.app}/collections/${collection}/records`;
  const at = (id, parameters) => `${path}${id ? `/${id}` : ''}?${new URLSearchParams(parameters)}`;
  return {
    list: (parameters = {}) => request('GET', at('', parameters)),
    get: (id, parameters = {}) => request('GET', at(id, parameters)),
    aggregate: (parameters) => request('GET', at('aggregate', parameters)).then(({ items }) => items),
    create: (fields) => request('POST', path, fields),
    update: (id, fields) => request('PATCH', at(id), fields),
    remove: (id) => request('DELETE', at(id)),
  };
};

/** Several writes, of which all happen or none. */
export const batch = (...requests) => request('POST', `${paths.app}/batch`, { requests });

/** Uploads a `File`, and returns its id. Until a record holds it, only the uploader can read it. */
export async function upload(file) {
  const headers = {
    'Content-Type': file.type || 'application/octet-stream',
    'X-Filename': encodeURIComponent(file.name),
  };
  return (await request('POST', `${paths.app}/files`, file, headers)).id;
}

const metas = new Map();

/** Name, type and size of a file. They never change. */
export function fileMeta(id) {
  if (!metas.has(id)) metas.set(id, request('GET', `${paths.app}/files/${id}/meta`).catch(() => metas.delete(id)));
  return metas.get(id);
}

/** The address of a file, which the cookie opens. */
export const fileUrl = (id) => `${paths.app}/files/${id}`;

/** A text as a literal of a filter. */
export const literal = (text) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
