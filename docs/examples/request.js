/** One request; `credentials: 'include'` lets a server of another origin set and read its cookies. */
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
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

/**
 * New tokens by the refresh cookie. It works once, and all tabs have the same one: they take turns, since a second use ends the
 * login. Locks are there on `https:` and on localhost.
 */
export const refresh = (server) =>
  navigator.locks.request('refresh', () => request(`${server}/_/auth/refresh`, { method: 'POST', body: {} }));
