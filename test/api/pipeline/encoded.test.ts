// Bodies with a `Content-Encoding`: nothing decodes them, and nothing takes them for what they are not.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { expectError } from '../../harness/expectations.ts';
import { send, serverUrl } from '../../harness/api.ts';

describe('a JSON body', () => {
  const post = (body: string | Buffer, coding: string) =>
    send(`${serverUrl()}/_/auth/refresh`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': coding },
    });

  it.each([
    ['gzip', gzipSync('{}')],
    ['gzip', '{}'],
    ['br', '{}'],
    ['identity, gzip', '{}'],
  ])('that says it is encoded is refused as such: %s', async (coding, body) => {
    const response = await post(body, coding);
    expectError(response, 422, 'deserialization');
    expect(response.body.message).toBe('the body must be sent as it is, without a Content-Encoding');
  });

  it('is read when it says that it is not encoded', async () => {
    expectError(await post('{"refresh_token":"rfsh_none"}', 'identity'), 401, 'unauthorized');
  });
});
