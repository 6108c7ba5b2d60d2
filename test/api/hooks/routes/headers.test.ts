// Which headers pass between a client and hook code, to the byte.
import { describe, expect, it } from 'vitest';
import { fromHookHeaders, toHookHeaders } from '../../../../api/hooks/routes/headers.ts';

const place = { app: { id: 'shop', workspace: { id: 'acme' } }, isOwnOrigin: false };
const home = '/api/workspaces/acme/apps/shop/custom';
const from = (...given: [string, string][]) => fromHookHeaders(given, 'svc', place);

describe('headers of a request', () => {
  it.each([
    'Authorization',
    'COOKIE',
    'Cookie2',
    'Proxy-Authorization',
    'svc_at',
    'SVC_rt',
    'Connection',
    'Keep-Alive',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
  ])('are shown to hook code without %s', (name) => {
    expect(toHookHeaders(['Accept', '*/*', name, 'secret', 'X-Own', '1', 'X-Own', '2'], 'svc')).toEqual([
      ['accept', '*/*'],
      ['x-own', '1'],
      ['x-own', '2'],
    ]);
  });

  it('keep the names that only resemble those', () => {
    const names = ['x-authorization', 'svcat', 'svc-at', 'cookies'];
    expect(toHookHeaders(names.flatMap((name) => [name, '1']), 'svc').map(([name]) => name)).toEqual(names);
  });
});

describe('headers of a response', () => {
  it('are 100 at most, and 16 KiB', () => {
    const many = (count: number) =>
      from(...Array.from({ length: count }, (_, n): [string, string] => [`x${n}`, '']));
    expect(many(100).length).toBe(100);
    expect(() => many(101)).toThrow('more than 100 headers');
    expect(from(['x-a', 'y'.repeat(16_381)]).length).toBe(1);
    expect(() => from(['x-a', 'y'.repeat(16_382)])).toThrow('16384 bytes');
    expect(from(['x'.repeat(256), '']).length).toBe(1);
    expect(() => from(['x'.repeat(257), ''])).toThrow('HTTP cannot carry');
  });

  it.each([
    ['x a', '1'],
    ['x:a', '1'],
    ['', '1'],
    ['x-a', 'b\r\nc: d'],
    ['x-a', 'b\nc'],
    ['x-a', 'b\0'],
    ['x-a', '\u0100'],
    ['x-a', '\u007f'],
  ])(
    'are none that HTTP cannot carry: %j, %j',
    (name, value) => expect(() => from([name, value])).toThrow('HTTP cannot carry'),
  );

  it.each([
    'Accept-CH',
    'Access-Control-Allow-Origin',
    'Alt-Svc',
    'Cache-Tag',
    'Clear-Site-Data',
    'Connection',
    'Content-Length',
    'Content-Security-Policy',
    'Content-Security-Policy-Report-Only',
    'Critical-CH',
    'Date',
    'Expect',
    'IdP-SignIn-Status',
    'Keep-Alive',
    'NEL',
    'Origin-Agent-Cluster',
    'Permissions-Policy',
    'Proxy-Authenticate',
    'Proxy-Connection',
    'Referrer-Policy',
    'Report-To',
    'Reporting-Endpoints',
    'Sec-Session-Registration',
    'Secure-Session-Registration',
    'Service-Worker-Allowed',
    'Set-Login',
    'Strict-Transport-Security',
    'Surrogate-Key',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Use-As-Dictionary',
    'X-Accel-Redirect',
    'X-Content-Type-Options',
    'X-Envoy-Decorator-Operation',
    'X-Frame-Options',
    'X-Lighttpd-Send-File',
    'X-Lighttpd-Send-Tempfile',
    'X-LiteSpeed-Location',
    'X-Reproxy-URL',
    'X-Request-Id',
    'X-Sendfile',
    'X-Sendfile2',
  ])('are sent without %s', (name) => {
    expect(from(['X-Own', '1'], [name, 'x'], ['X-Own', '2'])).toEqual([['x-own', '1'], ['x-own', '2']]);
  });

  it('are 20 cookies at most, so that no link fills the browser', () => {
    const cookies = (count: number) =>
      from(...Array.from({ length: count }, (_, n): [string, string] => ['Set-Cookie', `c${n}=`]));
    expect(cookies(20)).toHaveLength(20);
    expect(() => cookies(21)).toThrow("the hook's response sets more than 20 cookies");
  });

  it.each([
    ['a=1; Path=/', 'a=1; Path='],
    ['a=1; path = /api ; Secure', 'a=1; Secure; Path='],
    [`a=1; Path=${home}/x`, 'a=1; Path=/x'],
    [`a=1; Path=${home}-of-another`, 'a=1; Path='],
    [`a=1; Path=${home}`, 'a=1; Path='],
    [`a=1; Path=${home}/x; Path=/`, 'a=1; Path='],
    ['a=1; Domain=example.com; DOMAIN; HttpOnly', 'a=1; HttpOnly; Path='],
    ['a=1; Priority=High; Secure', 'a=1; Secure; Path='],
    ['a=1;\tPRIORITY = high;priority', 'a=1; Path='],
  ])('have a cookie come back to the app alone: %s', (given, kept) => {
    expect(from(['Set-Cookie', given])).toEqual([['set-cookie', kept.replace('Path=', `Path=${home}`)]]);
  });

  it.each(['svc_at=1', ' svc_at=1', '=svc_at=1', 'SVC_RT=1', '\tSvc_at=1', ' = =svc_x=1'])(
    'set no cookie of the server’s own: %j',
    (cookie) => expect(from(['set-cookie', cookie])).toEqual([]),
  );
});
