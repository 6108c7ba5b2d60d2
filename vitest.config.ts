// How vitest runs the tests.
import { existsSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';
import { chromiumPath } from './test/harness/chromium.ts';

const leavesBrowserOut = !existsSync(chromiumPath) && (process.env['CI'] ?? '') === '';
if (leavesBrowserOut) {
  console.warn(`test/browser is left out: there is no ${chromiumPath} (Debian: apt-get install chromium)`);
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(leavesBrowserOut ? ['test/browser/**'] : [])],
    globalSetup: ['test/harness/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    pool: 'forks',
  },
});
