// An operator signs in while somebody guesses: 200 guesses a second from 500 addresses.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type ApiResponse, expectOk, send } from '../../harness/api.ts';
import { startServer } from '../../harness/server.ts';
import { setUp } from '../../harness/set-up.ts';
import { unlimited } from '../../harness/storefront.ts';

const addresses = 500;
const guessesPerSecond = 200;
const seconds = 20;
const password = '1 password of the master';

/** By the name that is guessed at: that of the master, or one that nobody has. */
const attacks: Record<string, (guess: number) => string> = {
  'the master’s name': () => 'admin',
  'names that nobody has': (guess) => `nobody ${guess}`,
};

it.each(Object.entries(attacks))('auth.guessing: at %s', async (_what, nameOf) => {
  const config = { ...unlimited, 'http.trust_proxy': true, 'http.cookie_secure': false };
  const server = await startServer({ config });
  const login = (from: string, username: string, secret: string, cookie = ''): Promise<ApiResponse> =>
    send(`${server.url}/_/auth/admin/login`, {
      method: 'POST',
      body: { username, password: secret },
      headers: { 'X-Forwarded-For': from, ...cookie === '' ? {} : { Cookie: cookie } },
    });
  try {
    await setUp(server.url);
    const first = await login('203.0.113.1', 'admin', password);
    expectOk(first);
    const [known = ''] = first.headers.getSetCookie().filter((each) => each.startsWith('svc_kc='));
    const guesses: Promise<ApiResponse>[] = [];
    const times: number[] = [];
    const end = performance.now() + seconds * 1_000;
    const attack = async () => {
      for (let guess = 0; performance.now() < end; guess++) {
        const from = `198.18.${guess % addresses >> 8}.${guess % addresses & 255}`;
        guesses.push(login(from, nameOf(guess), 'a guess'));
        await pause(1_000 / guessesPerSecond);
      }
    };
    const operator = async () => {
      while (performance.now() < end) {
        const began = performance.now();
        expectOk(await login('192.0.2.1', 'admin', password, known.split(';')[0]));
        times.push(performance.now() - began);
        await pause(200);
      }
    };
    await Promise.all([attack(), operator()]);
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);
    expect(statuses).not.toContain(200);
    expect(statuses).not.toContain(500);
    const sorted = times.toSorted((a, b) => a - b);
    const [median = 0, p90 = 0, p99 = 0] = [0.5, 0.9, 0.99].map((part) =>
      sorted[Math.floor(part * (sorted.length - 1))]
    );
    const figures = [median, p90, p99].map((time) => time.toFixed(0)).join('/');
    console.log(
      `${statuses.length / seconds} guesses a second; ${times.length} logins, p50/p90/p99 ${figures} ms`,
    );
    expect(p99).toBeLessThan(1_000);
  } finally {
    await server.stop();
  }
}, 120_000);
