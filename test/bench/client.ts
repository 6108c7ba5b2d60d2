// Requests that set a measurement up; what is measured goes through the load generator.

/** Sends JSON and answers the body. Throws on any status but 2xx. */
export async function request(
  url: string,
  options: { method?: string; token?: string | undefined; body?: unknown } = {},
): Promise<Record<string, unknown>> {
  const { method = 'GET', token, body } = options;
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new Error(`${method} ${url} answered ${text}`);
  return { ...value };
}

/** The access token of a login. */
export async function login(url: string, credentials: Record<string, string>): Promise<string> {
  const { access_token: token } = await request(url, { method: 'POST', body: credentials });
  if (typeof token !== 'string') throw new Error('the login gave no token');
  return token;
}
