// A new password that policy refuses, in a body that is wrong in other ways as well: all is told at once.
import { expect, it } from 'vitest';
import { as, master, ownWorkspace } from '../../../harness/api.ts';

const short = 'must have at least 8 characters';

it('names a password that policy refuses beside the other members that are wrong', async () => {
  const [own, owner] = await Promise.all([ownWorkspace(), master()]);
  const { body: admin } = await owner.post(`${own.path}/admins`, {
    email: 'admin@example.com',
    password: 'a password of the admin',
    app_ids: [],
  });
  const responses = [
    await as().post(`${own.path}/auth/users/register`, { email: 'nobody', password: 'short' }),
    await as().post(`${own.path}/auth/password-reset/confirm`, { new_password: 'short' }),
    await owner.post(`${own.path}/admins`, { email: 'nobody', password: 'short', app_ids: [] }),
    await owner.patch(`${own.path}/admins/${admin.id}`, { name: 1, password: 'short' }),
    await owner.post('/_/auth/admin/password', { new_password: 'short' }),
  ];
  expect(responses.map(({ status, body }) => [status, body.message])).toEqual([
    [400, `email: must be an email address; password: ${short}`],
    [400, `token: is required; new_password: ${short}`],
    [400, `email: must be an email address; password: ${short}`],
    [400, `name: must be a string; password: ${short}`],
    [400, `current_password: is required; new_password: ${short}`],
  ]);
});

it('goes by the policies of the workspace', async () => {
  const [own, owner] = await Promise.all([ownWorkspace(), master()]);
  await owner.put(`${own.path}/policies/password.length`, { kind: 'range', min: 12, max: 20 });
  const { body } = await as().post(`${own.path}/auth/users/register`, { password: 'eleven char' });
  expect(body.message).toBe('email: is required; password: must have at least 12 characters');
});

it('says of a password that is no text, empty or far too long only that', async () => {
  const own = await ownWorkspace();
  const messages: unknown[] = [];
  for (const password of [undefined, 5, '', 'x'.repeat(4_097)]) {
    const { body } = await as().post(`${own.path}/auth/users/register`, { email: 'a@example.com', password });
    messages.push(body.message);
  }
  expect(messages).toEqual([
    'password: is required',
    'password: must be a string',
    'password: must not be empty',
    'password: must have at most 4096 characters',
  ]);
});
