// What a PUT answers beside others who remove the same policy.
import { expect, it } from 'vitest';
import { ownWorkspace } from '../../harness/api.ts';

it('a policy that is set is answered as it was set, though others remove it at once', async () => {
  const { admin, path } = await ownWorkspace();
  const policy = `${path}/policies/my.own`;
  const answers: unknown[] = [];
  let isOver = false;
  const remove = async () => {
    while (!isOver) await admin.delete(policy);
  };
  const set = async () => {
    for (let round = 0; round < 60; round++) {
      answers.push(await admin.put(policy, { kind: 'range', min: 1, max: 5 }));
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
  expect(answers).toEqual(answers.map(() => asSet));
});
