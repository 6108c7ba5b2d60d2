// The embedded PostgreSQL's configuration.
import { describe, expect, it } from 'vitest';
import { pgHbaConf, postgresqlConf } from '../../../supervisor/postgres/config.ts';

describe('the cluster’s configuration', () => {
  it('quotes paths', () => {
    const text = postgresqlConf({ data: "/it's", socket: '/back\\slash', config: '/c' }, {
      platform: 'linux',
      apiProcesses: 1,
    });
    expect(text).toContain("data_directory = '/it''s'");
    expect(text).toContain("unix_socket_directories = '/back\\\\slash'");
  });

  it('ends with a rule that rejects everyone', () => {
    expect(pgHbaConf().trim().split('\n').slice(1)).toEqual([
      'local all      postgres reject',
      'local all      bulkhead scram-sha-256',
      'local samerole all      scram-sha-256',
      'local all      all      reject',
    ]);
  });
});
