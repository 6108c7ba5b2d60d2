// The cache of policies, with a database that fails.
import { expect, it, onTestFinished } from 'vitest';
import { PolicyCache } from '../../../api/policies/cache.ts';
import { ownInstallation } from '../../harness/database.ts';

it('reads again after a read failed', async () => {
  const installation = await ownInstallation();
  onTestFinished(installation.remove);
  const book = new PolicyCache((await installation.open()).databases);
  const rename = (from: string, to: string) =>
    installation.as({}, (sql) => sql.unsafe(`alter table control.${from} rename to ${to}`));
  await rename('policies', 'hidden');
  await expect(book.fields({})).rejects.toThrow();
  await rename('hidden', 'policies');
  expect(await book.fields({})).toEqual(new Set());
});

it('changes its revision whenever policies may have changed', async () => {
  const installation = await ownInstallation();
  onTestFinished(installation.remove);
  const book = new PolicyCache((await installation.open()).databases);
  const revisions = [book.revision];
  for (const forget of [() => book.onChange({ kind: 'policies' }), () => book.invalidateAll()]) {
    forget();
    revisions.push(book.revision);
  }
  expect(new Set(revisions).size).toBe(3);
});
