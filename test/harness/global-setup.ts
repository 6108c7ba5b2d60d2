// One real server for all API tests, each file in a workspace of its own; another's PostgreSQL for storage tests.
import type { TestProject } from 'vitest/node';
import { makeTemplate, startServer } from './server.ts';

/** What the test files are told of the server. */
export interface SharedServer {
  url: string;
  dataDir: string;
  masterPassword: string;
}

/** A second server, whose PostgreSQL is there for storage tests: they would take the first one's connections. */
export interface StorageServer {
  dataDir: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    server: SharedServer;
    storage: StorageServer;
  }
}

const masterPassword = 'correct horse battery staple';

/** Starts both; the teardown stops them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeTemplate = await makeTemplate();
  const storage = await startServer({ isLarge: true });
  project.provide('storage', { dataDir: storage.dataDir });
  const server = await startServer({
    isLarge: true,
    config: {
      rate_limit: { per_second: 100_000, burst: 100_000 },
      http: { cookie_secure: false },
      // Providers and hosts of the tests are on this machine.
      egress: { private_hosts: 'loopback' },
      // It would be most of the work of tests that put hooks; those about it start a server of their own.
      hooks: { type_check: false },
    },
  });
  const response = await fetch(`${server.url}/_/setup`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ password: masterPassword }),
  });
  if (response.status !== 201) throw new Error(`setup answered ${response.status}: ${await response.text()}`);
  project.provide('server', { url: server.url, dataDir: server.dataDir, masterPassword });
  return async () => {
    // A process of it that ended meanwhile would explain what tests could not reach.
    const warnings = server.output.filter((line) => /"level":"(warn|error)","part":"supervisor"/.test(line));
    for (const line of warnings) console.warn(line);
    await server.stop();
    await storage.stop();
    await removeTemplate();
  };
}
