// How vitest runs the tests: five projects, see test/harness/projects.ts.
import { existsSync } from 'node:fs';
import { configDefaults, defineConfig } from 'vitest/config';
import { chromiumPath } from './test/harness/chromium.ts';
import { readProjects } from './test/harness/projects.ts';

/** What a machine may lack, and the tests that are about nothing else. With `CI` set, nothing is left out. */
const needs = [
  { path: chromiumPath, of: 'chromium', tests: ['test/browser/**'] },
  {
    path: '/usr/bin/bwrap',
    of: 'bubblewrap',
    tests: [
      'test/api/hooks/files/warnings.test.ts',
      'test/escapes/**',
      'test/process/how-to-hooks.test.ts',
      'test/supervisor/hooks/runner-limits.test.ts',
      'test/supervisor/hooks/runners.test.ts',
      'test/supervisor/hooks/sandbox.test.ts',
      'test/supervisor/hooks/seccomp.test.ts',
    ],
  },
];
const missing = (process.env['CI'] ?? '') === '' ? needs.filter(({ path }) => !existsSync(path)) : [];
for (const { path, of, tests } of missing) {
  console.warn(`left out: ${tests.join(', ')}: there is no ${path} (Debian: apt-get install ${of})`);
}

const projects = readProjects(import.meta.dirname);

/** A vitest project; `globalSetup` starts the servers that its tests share. */
function project(name: keyof typeof projects, globalSetup: string[]) {
  // Modules keep no state between tests: to load them once for each worker saves half a second for each file.
  return {
    extends: true as const,
    test: {
      name,
      include: projects[name],
      globalSetup,
      isolate: ['process', 'slow', 'alone'].includes(name),
      ...name === 'alone' && { maxWorkers: 1, sequence: { groupOrder: 1 } },
    },
  };
}

const servers = ['test/harness/global-setup.ts'];

export default defineConfig({
  test: {
    projects: [
      project('unit', []),
      project('api', servers),
      project('process', servers),
      project('slow', servers),
      project('alone', servers),
    ],
    exclude: [...configDefaults.exclude, ...missing.flatMap(({ tests }) => tests)],
    // A busy machine is slow, and no fault of the server's; what must be quick is measured by its test.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
    maxWorkers: 3,
    pool: 'forks',
  },
});
