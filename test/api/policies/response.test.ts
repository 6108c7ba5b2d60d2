// The response to a PUT during other changes of the same policy.
import { expect, it } from 'vitest';
import { expectOk, ownWorkspace } from '../../harness/api.ts';

it('responds with the policy as it was set, though another request removes it at once', async () => {
  const { admin, path } = await ownWorkspace();
  const policy = `${path}/policies/my.own`;
  const responses: unknown[] = [];
  let isOver = false;
  const remove = async () => {
    while (!isOver) await admin.delete(policy);
  };
  const set = async () => {
    for (let round = 0; round < 60; round++) {
      responses.push(await admin.put(policy, { kind: 'range', min: 1, max: 5 }));
    }
  };
  await Promise.all([set().finally(() => isOver = true), remove(), remove(), remove()]);
  const asSet = expect.objectContaining({
    status: 200,
    body: expect.objectContaining({
      spec: { kind: 'range', min: 1, max: 5 },
      effective: { kind: 'range', min: 1, max: 5 },
      set_by: { min: 'workspace', max: 'workspace' },
    }),
  });
  expect(responses).toEqual(responses.map(() => asSet));
});

it('responds with the bounds of the policy’s own workspace and app', async () => {
  const field = 'my.other';
  const [own, other] = [await ownWorkspace(), await ownWorkspace()];
  const [app, neighbour] = [await own.app(), await own.app()];
  const places = [
    { ...other, max: 3 },
    { ...await other.app(), max: 2 },
    { ...own, max: 9 },
    { ...neighbour, max: 4 },
    { ...app, max: 8 },
  ];
  const responses = [];
  for (const { path, max } of [...places, ...places]) {
    const put = own.master.put(`${path}/policies/${field}`, { kind: 'range', min: 1, max });
    responses.push(expectOk(await put).effective.max);
  }
  expect(responses).toEqual([3, 2, 9, 4, 8, 3, 2, 9, 4, 8]);
});
