// The files of ops/: what a container image is built from, and what runs it or the program.
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const read = (file: string) => readFile(new URL(`../${file}`, import.meta.url), 'utf8');

it('is what the Dockerfile copies: no builder is sent a data directory, or its keys', async () => {
  const copied = (await read('ops/Dockerfile')).matchAll(/^COPY (.+) \S+$/gm).flatMap(([, sources = '']) =>
    sources.split(' ')
  );
  const patterns = (await read('.dockerignore')).split('\n').filter((line) => !/^(#|$)/.test(line));
  expect(patterns[0]).toBe('*');
  expect(patterns.slice(1).toSorted()).toEqual([...copied].map((source) => `!${source}`).toSorted());
});

it('has the user that Kubernetes is told: PostgreSQL runs as nobody whom the system does not know', async () => {
  const [, user] = /useradd .*--uid (\d+)/.exec(await read('ops/Dockerfile')) ?? [];
  const asked = (await read('ops/kubernetes.yaml')).matchAll(/\b(?:runAs\w+|fsGroup): (\d+)/g);
  expect(asked.map(([, id]) => id).toArray()).toEqual([user, user, user]);
});

it('is told nothing but settings: Kubernetes makes BULKHEAD_PORT of a service of this name', async () => {
  const manifest = await read('ops/kubernetes.yaml');
  expect(manifest).toMatch(/^ {2}name: bulkhead$/m);
  expect(manifest).toMatch(/^ {6}enableServiceLinks: false$/m);
});

it('leaves /proc uncovered as a service: else bubblewrap, which mounts one, cannot wall hooks in', async () => {
  const unit = await read('ops/bulkhead.service');
  expect(unit).not.toMatch(/^(?:ProtectKernelTunables|ProtectKernelLogs|ProtectProc|ProcSubset)=/m);
});

it('is given a control group: else the kernel cannot keep hooks to their share', async () => {
  const unit = await read('ops/bulkhead.service');
  expect(unit).toMatch(/^Delegate=cpu memory pids$/m);
  expect(unit).not.toMatch(/^ProtectControlGroups=/m);
  // Or systemd would end the service when the kernel has ended one hook process.
  expect(unit).toMatch(/^OOMPolicy=continue$/m);
  expect(await read('ops/compose.yaml')).toMatch(/^ {6}- writable-cgroups=true$/m);
});
