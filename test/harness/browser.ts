// A real Chromium, and the example pages as their README says to serve them.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumPath } from './chromium.ts';

const flags = [
  // Chromium's own sandbox does not start as root; the pages are ours.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser with an empty profile. */
export interface Browser {
  /** A tab. What goes wrong in the page itself is collected in `failures`. */
  open(url: string): Promise<Page>;
  readonly failures: string[];
  /** The tabs that are open. */
  tabs(): Page[];
  close(): Promise<void>;
}

/** Starts Chromium; each call is another person's browser. */
export async function openBrowser(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'bulkhead-browser-'));
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumPath,
    headless: true,
    args: flags,
    timeout: 60_000,
  });
  context.setDefaultTimeout(20_000);
  const failures: string[] = [];
  context.on('weberror', (error) => failures.push(String(error.error())));
  return {
    failures,
    tabs: () => context.pages().filter((page) => page.url() !== 'about:blank'),
    open: async (url) => {
      const page = await context.newPage();
      await page.goto(url);
      return page;
    },
    close: async () => {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** A running web server for the example pages. */
export interface Pages {
  /** `http://localhost:<port>` */
  origin: string;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Serves `docs/examples` with the program that is there for it, on a free port. */
export async function servePages(): Promise<Pages> {
  const subprocess = execa(join(root, 'node_modules/.bin/node'), ['docs/examples/serve.js', '0'], {
    cwd: root,
    reject: false,
  });
  const [line] = await once(subprocess.stdout, 'data');
  return {
    origin: String(line).trim(),
    stop: async () => {
      subprocess.kill('SIGTERM');
      await subprocess;
    },
  };
}
