// The kinds of addresses, and the wall.
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { addressKind, Wall } from '../../../api/egress/wall.ts';
import { type EgressSetting, testEgress } from '../../harness/egress.ts';

describe('the kind of an address', () => {
  const table: Record<string, readonly string[]> = {
    public: [
      '1.1.1.1',
      '172.32.0.1',
      '100.128.0.1',
      '192.0.1.1',
      '198.20.0.1',
      '2606:4700::1111',
      '2001:200::1',
      '3ffe::1',
      '::ffff:1.1.1.1',
      '64:ff9b::101:101',
      '2001:4860::ffff:a00:1',
      '2606:4700::a00:1',
    ],
    loopback: ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1'],
    private: [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      '100.127.255.255',
      '198.18.0.1',
      '198.19.255.255',
      'fc00::1',
      'fd12::1',
      '::ffff:10.0.0.1',
    ],
    forbidden: [
      '0.0.0.0',
      '169.254.169.254',
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.1',
      '192.0.2.1',
      '192.88.99.1',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'ff02::1',
      'fd00:ec2::254',
      'fd20:ce::254',
      '2001:1ff::1',
      '2001:db8::1',
      '3fff:fff::1',
      '64:ff9b:1::a00:1',
      '1::ffff:a00:1',
      '::ffff:169.254.169.254',
      '::127.0.0.1',
      '2002:7f00:1::',
      '2001:0:7f00:1::',
      '4000::1',
      'not an address',
    ],
  };
  const rows = Object.entries(table).flatMap(([reach, all]) =>
    all.map((address) => [address, reach] as const)
  );

  it.each(rows)('oauth.ssrf: of %s is %s', (address, reach) => {
    expect(addressKind(address)).toBe(reach);
  });
});

describe('the wall', () => {
  const refuses = (hosts: readonly string[], url: string) =>
    testEgress({ hosts }).objection(new URL(url)) !== undefined;

  it('oauth.ssrf: lets through a host and port that is listed, also where the scheme implies the port', () => {
    expect(refuses(['10.0.0.1:443'], 'https://10.0.0.1/')).toBe(false);
    expect(refuses(['10.0.0.1:443'], 'http://10.0.0.1/')).toBe(true);
    expect(refuses(['10.0.0.1:443'], 'https://10.0.0.1:8443/')).toBe(true);
    expect(refuses(['10.0.0.1:80'], 'http://10.0.0.1/')).toBe(false);
    expect(refuses(['10.0.0.1:80'], 'https://10.0.0.1/')).toBe(true);
    expect(refuses(['Box.Localhost'], 'http://box.localhost/')).toBe(false);
  });

  it.each([
    'http://name@1.1.1.1/',
    'http://:secret@1.1.1.1/',
    'ftp://1.1.1.1/',
    'http://localhost/',
    'http://a.localhost./',
    'http://[::1]/',
    'http://[fd12::1]/',
  ])('oauth.ssrf: refuses %s before any name is looked up', (url) => {
    expect(refuses([], url)).toBe(true);
    expect(refuses([], 'http://1.1.1.1/')).toBe(false);
    expect(refuses([], 'http://[2606:4700::1111]/')).toBe(false);
  });

  it.each(['loopback', 'allow', ['127.0.0.1', 'localhost']] as const)(
    "oauth.ssrf: never lets through the server's own ports (private_hosts %j)",
    (hosts) => {
      const wall = testEgress({ hosts, ownPorts: [8080, 80] });
      const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
      const names = ['127.0.0.1', 'localhost', ...own.filter(isIPv4)];
      for (const name of names) {
        for (const url of [`http://${name}:8080/`, `http://${name}/`]) {
          expect([url, wall.objection(new URL(url))]).not.toEqual([url, undefined]);
        }
      }
      expect(wall.objection(new URL('http://127.0.0.1:8081/'))).toBeUndefined();
    },
  );

  it('resolves names by the system only where the operator trusts them', () => {
    const trusts = (hosts: Required<EgressSetting>['hosts']) =>
      new Wall({ egress: { private_hosts: hosts } }).trustsName(new URL('https://idp.example/'));
    expect(trusts('deny')).toBe(false);
    expect(trusts(['other.example'])).toBe(false);
    expect(trusts('loopback')).toBe(true);
    expect(trusts('allow')).toBe(true);
    expect(trusts(['idp.example:443'])).toBe(true);
  });
});
