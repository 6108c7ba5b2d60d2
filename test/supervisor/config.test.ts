// How the configuration is put together.
import { describe, expect, it } from 'vitest';
import { describeConfig, describeConfigAsJson } from '../../supervisor/commands/config.ts';
import {
  type ConfigInput,
  environmentName,
  flagName,
  resolveConfig,
  settingsByKey,
} from '../../supervisor/config.ts';
import { readFlags } from '../../supervisor/flags.ts';
import { StartRefused } from '../../supervisor/start-refused.ts';

function resolve(input: Partial<ConfigInput>) {
  return resolveConfig({ file: undefined, env: {}, flags: [], cwd: '/srv', terminal: false, ...input });
}

const inFile = (value: unknown) => resolve({ file: { path: '/srv/bulkhead.config.json', value } });

describe('the configuration', () => {
  it('has the documented defaults', () => {
    expect(resolve({}).config).toEqual({
      data_dir: '/srv/data',
      http: {
        host: '127.0.0.1',
        port: 8080,
        cookie_secure: true,
        cookie_prefix: 'svc',
        security_headers: true,
        max_body_bytes: 8_388_608,
        trust_proxy: false,
        app_domain: '',
        hosts: [],
        keep_alive_ms: 75_000,
      },
      rate_limit: { enabled: true, per_second: 50, burst: 100 },
      realtime: { streams_per_principal: 1_000, streams_per_address: 5_000 },
      cors: { allowed_origins: [] },
      database: { url: '', workspace_pool_cap: 4, app_pool_cap: 4 },
      storage: {
        backend: 'local',
        reserve_mb: 1_024,
        s3: {
          bucket: '',
          region: '',
          endpoint: '',
          access_key_id: '',
          secret_access_key: '',
          virtual_hosted_style_request: false,
        },
      },
      mail: { transport: 'outbox', from: 'Bulkhead <bulkhead@localhost>', smtp: { url: '' } },
      hooks: {
        dir: '/srv/data/hooks',
        timeout_ms: 5000,
        memory_mb: 256,
        idle_ms: 300_000,
        max_runners: 200,
        total_memory_mb: 0,
        sandbox: 'auto',
        jit: false,
        type_check: true,
      },
      egress: { private_hosts: 'deny' },
      auth: { issuer: 'bulkhead', legacy_hs256_secret: '', otp_ttl_sec: 600 },
      audit: { retention_days: 0 },
      secrets: { master_key: '' },
      api: { workers: 1 },
      log: { level: 'info', format: 'json' },
    });
  });

  it('lets the environment win over the file, and a flag over both', () => {
    const file = { path: 'f', value: { http: { port: 1, host: 'a' }, auth: { issuer: 'file' } } };
    const env = { BULKHEAD_HTTP__PORT: '2', BULKHEAD_HTTP__HOST: 'b', HOME: '/root' };
    const { config, effective } = resolve({ file, env, flags: readFlags(['--http-port', '3']).flags });
    expect([config.http.port, config.http.host, config.auth.issuer]).toEqual([3, 'b', 'file']);
    const sources = ['http.port', 'http.host', 'auth.issuer', 'api.workers'].map((key) =>
      effective.get(key)?.source
    );
    expect(sources).toEqual(['flag --http-port', 'environment BULKHEAD_HTTP__HOST', 'f', 'default']);
  });

  it('reads every setting from its environment variable', () => {
    const values: Record<string, string> = {};
    for (const [key, { default: value }] of settingsByKey) {
      if (value !== '') values[environmentName(key)] = Array.isArray(value) ? '' : String(value);
    }
    expect(resolve({ env: values }).config.http).toEqual(resolve({}).config.http);
    expect(environmentName('storage.s3.bucket')).toBe('BULKHEAD_STORAGE__S3__BUCKET');
    expect(environmentName('data_dir')).toBe('BULKHEAD_DATA_DIR');
  });

  it('gives every setting a flag of its own', () => {
    expect(new Set([...settingsByKey.keys()].map(flagName)).size).toBe(settingsByKey.size);
  });

  it.each([
    ['a,b', 'https://a.example, https://b.example', ['https://a.example', 'https://b.example']],
    ['a JSON array', '["https://a.example"]', ['https://a.example']],
    ['an origin of an app', 'capacitor://localhost', ['capacitor://localhost']],
    ['nothing', '', []],
  ])('reads a list from %s', (_, text, expected) => {
    const { config } = resolve({ env: { BULKHEAD_CORS__ALLOWED_ORIGINS: text } });
    expect(config.cors.allowed_origins).toEqual(expected);
  });

  it.each([['deny', 'deny'], ['minio:9000,10.0.0.1', ['minio:9000', '10.0.0.1']]])(
    'reads egress.private_hosts %s',
    (text, expected) => {
      expect(resolve({ env: { BULKHEAD_EGRESS__PRIVATE_HOSTS: text } }).config.egress.private_hosts).toEqual(
        expected,
      );
    },
  );

  it.each([
    ['HTTP__PORT', '80a', 'http.port must be an integer from 0 to 65535'],
    ['HTTP__PORT', '', 'http.port must be an integer from 0 to 65535'],
    ['HOOKS__JIT', 'yes', 'hooks.jit must be true or false'],
    [
      'EGRESS__PRIVATE_HOSTS',
      'auto',
      'egress.private_hosts must be one of deny, loopback, allow, or a list, each a host or host:port',
    ],
    ['LOG__LEVEL', 'all', 'log.level must be one of debug, info, warn, error'],
    [
      'CORS__ALLOWED_ORIGINS',
      'https://a.example/path',
      'cors.allowed_origins must be a list, each an exact origin like https://example.com or ' +
      'capacitor://localhost (patterns with * are not possible)',
    ],
    [
      'CORS__ALLOWED_ORIGINS',
      'https://*.example.com',
      'cors.allowed_origins must be a list, each an exact origin like https://example.com or ' +
      'capacitor://localhost (patterns with * are not possible)',
    ],
    [
      'DATABASE__URL',
      'postgres://me@db?sslmode=verify-ca',
      'database.url has sslmode=verify-ca: one of disable, allow, prefer, require, verify-full is needed',
    ],
    ['MAIL__SMTP__URL', 'smtp://', 'mail.smtp.url must be an smtp or smtps URL, or empty'],
    ['MAIL__FROM', 'Example', 'mail.from must be an address, as in Example <no-reply@example.com>'],
  ])('refuses %s=%s in one line', (name, text, complaint) => {
    const variable = `BULKHEAD_${name}`;
    expect(() => resolve({ env: { [variable]: text } })).toThrow(
      new StartRefused(`${complaint} (environment ${variable})`),
    );
  });

  it('leaves alone the variables of clients', () => {
    const env = { BULKHEAD_URL: 'https://api.example.com', BULKHEAD_TOKEN: 'a token' };
    expect(resolve({ env }).config).toEqual(resolve({}).config);
  });

  it.each([
    [{ BULKHEAD_HTTP__PROT: '1' }, 'unknown setting BULKHEAD_HTTP__PROT (environment)'],
    [{ BULKHEAD_STORAGE__BACKEND: 's3' }, 'storage.s3.bucket is needed when storage.backend is s3'],
    [{ BULKHEAD_MAIL__TRANSPORT: 'smtp' }, 'mail.smtp.url is needed when mail.transport is smtp'],
    [
      { BULKHEAD_API__WORKERS: '3', BULKHEAD_HOOKS__MAX_RUNNERS: '2' },
      'hooks.max_runners must not be less than api.workers: each of these runs hooks',
    ],
  ])('refuses %o in one line', (env, message) => {
    expect(() => resolve({ env })).toThrow(new StartRefused(message));
  });

  it.each([
    [{ http: { prot: 1 } }, 'unknown setting http.prot (/srv/bulkhead.config.json)'],
    [{ http: { port: '80' } }, 'http.port must be an integer from 0 to 65535 (/srv/bulkhead.config.json)'],
    [{ http: 80 }, 'http must be an object of settings (/srv/bulkhead.config.json)'],
    [[], 'the configuration must be an object of settings (/srv/bulkhead.config.json)'],
    [{ data_dir: { a: 1 } }, 'data_dir must be text that is not empty (/srv/bulkhead.config.json)'],
    [{ constructor: 1 }, 'unknown setting constructor (/srv/bulkhead.config.json)'],
  ])('refuses a file with %o', (value, message) => {
    expect(() => inFile(value)).toThrow(new StartRefused(message));
  });

  it.each([
    [['--prot', '1'], "Unknown option '--prot' (command line)"],
    [['--set', 'port'], '--set needs key=value, not port'],
    [['stray'], "Unexpected argument 'stray' (command line)"],
  ])('refuses the arguments %o', (args, message) => {
    expect(() => readFlags(args)).toThrow(message.split(' (')[0]);
  });

  it('names a wrong key given by --set as it was written', () => {
    const { flags } = readFlags(['--set', 'http.prot=1']);
    expect(() => resolve({ flags })).toThrow(
      new StartRefused('unknown setting http.prot (flag --set http.prot)'),
    );
  });

  it('never repeats a secret, wrong or right', () => {
    const secret = 'hunter2hunter2';
    expect(() => resolve({ env: { BULKHEAD_SECRETS__MASTER_KEY: secret } })).toThrow(
      new StartRefused(
        'secrets.master_key must be 32 bytes as base64 or hexadecimal digits (environment BULKHEAD_SECRETS__MASTER_KEY)',
      ),
    );
    const env = {
      BULKHEAD_AUTH__LEGACY_HS256_SECRET: secret,
      BULKHEAD_DATABASE__URL: `postgres://me:${secret}@db/x`,
      BULKHEAD_MAIL__SMTP__URL: `smtp://me:${secret}@mail`,
      BULKHEAD_STORAGE__S3__SECRET_ACCESS_KEY: secret,
    };
    const resolved = resolve({ env });
    expect(describeConfig(resolved) + describeConfigAsJson(resolved)).not.toContain(secret);
    expect(describeConfig(resolved)).toMatch(
      /^database\.url = \*{8} +# environment BULKHEAD_DATABASE__URL$/m,
    );
  });

  it('prints what takes effect and where it came from', () => {
    const resolved = resolve({ env: { BULKHEAD_HTTP__PORT: '81' } });
    expect(describeConfig(resolved)).toMatch(/^http\.port = 81 +# environment BULKHEAD_HTTP__PORT$/m);
    expect(JSON.parse(describeConfigAsJson(resolved))['http.port']).toEqual({
      value: 81,
      source: 'environment BULKHEAD_HTTP__PORT',
      environment: 'BULKHEAD_HTTP__PORT',
      doc: expect.stringContaining('Port'),
    });
  });

  it('writes for a person on a terminal, unless told otherwise', () => {
    expect(resolve({ terminal: true }).config.log.format).toBe('pretty');
    expect(resolve({ terminal: true, env: { BULKHEAD_LOG__FORMAT: 'json' } }).config.log.format).toBe('json');
  });
});
