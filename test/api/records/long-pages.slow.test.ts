// Pages of many megabytes that clients do not read: what they keep from others of their workspace, and from nobody else.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { expectOk, serverUrl } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { type Scenario, scenario } from '../../harness/scenario.ts';

async function makeLong(records: number): Promise<Scenario> {
  const made = await scenario({ collections: { long: [{ name: 'text', kind: 'text' }] } });
  const text = 'x'.repeat(3_500_000);
  for (let count = 0; count < records; count++) await made.make(made.records('long'), { text });
  return made;
}

it(
  'a workspace whose share is held by a client that does not read gets 503 for long pages only, others get theirs, and all is well when it has gone',
  async () => {
    const [own, other] = await Promise.all([makeLong(10), makeLong(2)]);
    const page = (of: Scenario, perPage: number) => of.admin.get(`${of.records('long')}?per_page=${perPage}`);
    const { hostname, port } = new URL(serverUrl());
    const reader = connect({ host: hostname, port: Number(port) });
    reader.write(
      `GET ${
        own.records('long')
      } HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${own.admin.token}\r\n\r\n`,
    );
    await once(reader, 'readable');
    const refused = page(own, 10);
    expect(expectOk(await page(other, 2)).items).toHaveLength(2);
    expect(expectOk(await own.admin.get(`${own.collections}/long`))).toMatchObject({
      schema: { id: 'long' },
    });
    const response = await refused;
    expectError(response, 503, 'unavailable');
    expect(response.headers.get('Retry-After')).toBe('1');
    expect(expectOk(await page(own, 1)).items).toHaveLength(1);
    reader.destroy();
    expect(expectOk(await page(own, 10)).items).toHaveLength(10);
  },
  120_000,
);
