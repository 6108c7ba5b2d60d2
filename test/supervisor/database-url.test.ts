// database.url as operators write it.
import { describe, expect, it } from 'vitest';
import { parseDatabaseUrl } from '../../supervisor/database-url.ts';

const base = {
  host: 'db.example',
  port: 5432,
  username: 'me',
  password: 'pw',
  database: 'bulkhead',
  ssl: 'prefer',
};

describe('database.url', () => {
  it.each([
    ['postgres://me:pw@db.example', base],
    ['postgresql://me:pw@db.example:6000/other', { ...base, port: 6000, database: 'other' }],
    ['postgres://me:pw@db.example/?sslmode=verify-full', { ...base, ssl: 'verify-full' }],
    ['postgres://me:pw@db.example/x?sslmode=allow', { ...base, database: 'x', ssl: 'prefer' }],
    ['postgres://m%40e:p%2Fw%25@[::1]/x', {
      ...base,
      host: '::1',
      username: 'm@e',
      password: 'p/w%',
      database: 'x',
    }],
    ['postgres://me:pw@/x?host=/run/postgresql', {
      ...base,
      host: '/run/postgresql',
      database: 'x',
      ssl: 'disable',
    }],
    ['postgres://me@db.example', { ...base, password: '' }],
  ])('reads %s', (url, expected) => {
    expect(parseDatabaseUrl(url)).toEqual(expected);
  });

  it.each([
    ['mysql://me@db', 'must be a URL like postgres://user:password@host:5432/database'],
    ['db.example', 'must be a URL like postgres://user:password@host:5432/database'],
    [
      'postgres://me@db?sslmode=sometimes',
      'has sslmode=sometimes: one of disable, allow, prefer, require, verify-full is needed',
    ],
    ['postgres://me@db?sslcert=x', 'has an unknown parameter sslcert: sslmode and host are known'],
    ['postgres://me:1?pw@db.example/x', 'has a ? that is written as %3F where it does not begin parameters'],
    ['postgres://db.example/x', 'names no user'],
    ['postgres://me:pw@/x', 'names no host'],
    ['postgres://me:100%@db.example/x', 'has a % that is not followed by two hexadecimal digits'],
  ])('refuses %s', (url, message) => {
    expect(() => parseDatabaseUrl(url)).toThrow(new Error(message));
  });
});
