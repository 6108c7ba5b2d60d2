// The sandbox of hooks, as an operator sees it.
import { describe, expect, it } from 'vitest';
import { as, expectOk, master } from '../harness/api.ts';

describe('the sandbox in effect', () => {
  it('is named by /readyz, and is on record since when it is so', async () => {
    const { sandbox, hook_shares } = expectOk(await as().get('/readyz'));
    expect(['os', 'deno']).toContain(sandbox);
    expect(['kernel', 'supervisor']).toContain(hook_shares);
    const { items } = expectOk(await (await master()).get('/api/system/audit?action=sandbox_set'));
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      actor: 'system',
      action: 'sandbox_set',
      target: 'hooks',
      details: { level: sandbox, why: expect.any(String) },
    });
  });
});
