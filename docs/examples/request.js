/**
 * Sends a request and returns the JSON response. Throws an error with the `message` of an error response, and its `errors`, one
 * for each wrong member. `credentials: 'include'` lets a server of another origin use its cookies.
 */
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
  if (!response.ok) throw Object.assign(new Error(result.message), { errors: result.errors });
  return result;
}

/** Gets new tokens with the refresh cookie. Tabs that do so at the same moment, and quick reloads, get the same ones. */
export const refresh = (server) => request(`${server}/_/auth/refresh`, { method: 'POST', body: {} });

/**
 * Shows each message of an error beside the input that has its path as name. Returns the text that is left to show: the whole
 * message if no input has any.
 */
export function showErrors(form, { message, errors = [] }) {
  const others = errors.filter((error) => {
    const input = form?.elements.namedItem(error.path);
    input?.after(Object.assign(document.createElement('small'), { role: 'alert', textContent: error.message }));
    return !input;
  });
  if (others.length === errors.length) return message;
  return others.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

/** Removes what `showErrors` has shown. */
export const clearErrors = (form) => form?.querySelectorAll('[role=alert]').forEach((note) => note.remove());
