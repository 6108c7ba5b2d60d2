/** Sends a request and returns the JSON response. `credentials: 'include'` lets a server of another origin use its cookies. */
export async function request(url, { method, token, body }) {
  const response = await fetch(url, {
    method,
    credentials: 'include',
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const result = await response.json();
  if (!response.ok) throw new Error(result.message);
  return result;
}

/**
 * Gets new tokens with the refresh cookie. All tabs share that cookie, and a second use of it would end the session, so the
 * tabs take turns. Browsers have locks on `https:` and on localhost.
 */
export const refresh = (server) =>
  navigator.locks.request('refresh', () => request(`${server}/_/auth/refresh`, { method: 'POST', body: {} }));
