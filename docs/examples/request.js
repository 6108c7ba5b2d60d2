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

/** Gets new tokens with the refresh cookie. Tabs that do so at the same moment, and quick reloads, get the same ones. */
export const refresh = (server) => request(`${server}/_/auth/refresh`, { method: 'POST', body: {} });
