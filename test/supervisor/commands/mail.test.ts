// `bulkhead mail test` against a real mail server, which takes the mail or does not.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bulkhead } from '../../harness/command.ts';
import { type Mood, type Provider, startProvider } from '../../harness/smtp.ts';

let provider: Provider;

beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider.close());

function send(...more: string[]) {
  const mail = ['--mail-transport=smtp', '--mail-from=Shop <shop@example.com>'];
  return bulkhead(['mail', 'test', 'ada@example.com', ...mail, `--mail-smtp-url=${provider.url}`, ...more]);
}

it('sends a mail, from the sender of the settings', async () => {
  const { exitCode, stdout } = await send('--json');
  const { port } = new URL(provider.url);
  expect({ exitCode, ...JSON.parse(stdout) }).toEqual({
    exitCode: 0,
    to: 'ada@example.com',
    from: 'Shop <shop@example.com>',
    host: '127.0.0.1',
    port: Number(port),
  });
  const [mail] = await provider.mailsTo('ada@example.com');
  expect(mail).toContain('From: Shop <shop@example.com>\n');
  expect((await send()).stdout).toMatch(/has taken a mail to ada@example\.com/);
});

it.each<[Mood, number, RegExp]>([
  ['refuses for good', 1, /refuses the recipient \(550\); it says: 550 not for ada@example\.com/],
  ['fails for now', 4, /refuses the recipient for now \(451\)/],
  ['takes no password', 1, /refuses the user name or password in mail\.smtp\.url/],
  ['takes no sender', 1, /refuses the sender, mail\.from/],
])('says why a server that %s does not take it', async (mood, code, words) => {
  provider.mood = mood;
  const { exitCode, stderr } = await send();
  provider.mood = 'accepts';
  expect(exitCode).toBe(code);
  expect(stderr).toMatch(words);
});

it('says what to do where no mail leaves the server, and where the address is none', async () => {
  const outbox = await bulkhead(['mail', 'test', 'ada@example.com', '--json']);
  expect(outbox.exitCode).toBe(1);
  expect(JSON.parse(outbox.stderr).message).toMatch(/set it to smtp/);
  const wrong = await bulkhead(['mail', 'test', 'ada']);
  expect(wrong).toMatchObject({ exitCode: 1, stderr: 'bulkhead: ada is no address' });
  const none = await bulkhead(['mail', 'test']);
  expect(none.exitCode).toBe(1);
  expect(none.stderr).toMatch(/address/i);
});
