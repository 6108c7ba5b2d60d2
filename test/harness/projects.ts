// Which tests belong together: those that need no server, those that share one, those that start their own, and the long ones.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** The test files of each vitest project, as paths from the root of the repository. */
export interface TestProjects {
  /** No module that they load reaches a server or starts a process: for every save. */
  unit: string[];
  /** They share the server that `global-setup.ts` starts. */
  api: string[];
  /** They are about processes: the supervisor, PostgreSQL, sandboxes, browsers. */
  process: string[];
  /** Named `*.slow.test.ts`: long fuzzing, soaks, timings, heaps. They want a quiet machine. */
  slow: string[];
  /** Named `*.alone.test.ts`: what they measure in milliseconds would say what else the machine does. They run last, one by one. */
  alone: string[];
}

// The hook runner's own code tampers with globals: it wants a process of its own, which the tests of processes have.
const processFolders = /^test\/(process|supervisor|escapes|browser|hostile-runner|hook-cases|hook-runner)\//;

/** The text of a module that reaches a server or starts a process. */
const reaches = /\binject\(|\bfrom 'execa'|\bfrom 'node:child_process'|\bstartServer\(/;

const importPattern = /^(?:import|export)\s+(?!type\b)[^;]*?from '(\.[^']+)'|^import '(\.[^']+)'/gms;

/** Sorts all test files; reads each of them, and each module that it imports, once. */
export function readProjects(root: string): TestProjects {
  const projects: TestProjects = { unit: [], api: [], process: [], slow: [], alone: [] };
  const known = new Map<string, boolean>();
  for (const path of globSync('test/**/*.test.ts', { cwd: root }).sort()) {
    projects[projectOf(path, () => needsServer(root, path, known))].push(path);
  }
  return projects;
}

function projectOf(path: string, needs: () => boolean): keyof TestProjects {
  if (path.endsWith('.slow.test.ts')) return 'slow';
  if (path.endsWith('.alone.test.ts')) return 'alone';
  if (!needs()) return 'unit';
  return processFolders.test(path) ? 'process' : 'api';
}

function needsServer(root: string, path: string, known: Map<string, boolean>): boolean {
  const before = known.get(path);
  if (before !== undefined) return before;
  // A ring of imports ends here.
  known.set(path, false);
  const text = readFileSync(join(root, path), 'utf8');
  const needs = reaches.test(text) || importsOf(text, path).some((file) => needsServer(root, file, known));
  known.set(path, needs);
  return needs;
}

/** The modules of the repository that a file imports. */
function importsOf(text: string, path: string): string[] {
  return [...text.matchAll(importPattern)]
    .map(([, from, bare]) => normalize(join(dirname(path), from ?? bare ?? '')))
    .filter((file) => /^(test|api|storage|supervisor|hook-runner)\/.*(?<!\.d)\.ts$/.test(file));
}
