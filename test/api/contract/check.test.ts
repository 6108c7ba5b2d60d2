// Bodies that are wrong in ways that no honest client produces: their errors are found soon, and are short.
import { describe, expect, it } from 'vitest';
import { check } from '../../../api/contract/check.ts';
import { ApiError } from '../../../api/errors.ts';
import {
  array,
  integer,
  nullable,
  object,
  optional,
  type Schema,
  string,
} from '../../../api/contract/schema.ts';
import { as } from '../../harness/api.ts';
import { expectError } from '../../harness/expectations.ts';
import { measured } from '../../harness/measured.ts';

const login = '/_/auth/admin/login';
const person = object({ name: string(), age: optional(integer()) });
const team = object({
  lead: person,
  members: optional(array(person, { max: 3 })),
  motto: optional(nullable(string())),
});

/** The message with which a value is refused. */
function refusal(value: unknown, schema: Schema<unknown> = team): string {
  try {
    check(value, schema);
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
  return 'ok';
}

describe('check', () => {
  it('reports every error, once for each member', () => {
    expect(refusal({ lead: { name: 5, age: 'old', x: 1 }, members: [{}, { name: 'b' }, null], motto: [] }))
      .toBe(
        'lead.name: must be a string; lead.age: must be a whole number; lead.x: unknown field; ' +
          'members.0.name: is required; members.2: must be an object; motto: must be a string',
      );
    expect(refusal({ lead: { name: 'a' }, motto: null })).toBe('ok');
  });

  it('looks no further into what is of another type, or into a list that is too long', () => {
    expect(refusal({ lead: [{ name: 5 }] })).toBe('lead: must be an object');
    expect(refusal({ lead: { name: 'a' }, members: { 0: 1 } })).toBe('members: must be an array');
    expect(refusal({ lead: { name: 'a' }, members: [1, 2, 3, 4] })).toBe(
      'members: must have at most 3 items',
    );
  });

  it('does not count all of a text that is far too long', measured, () => {
    const long = 'aé'.repeat(4_000_000);
    const began = performance.now();
    expect(refusal({ name: long }, object({ name: string({ max: 320 }) }))).toBe(
      'name: must have at most 320 characters',
    );
    expect(performance.now() - began).toBeLessThan(50);
  });

  it('names a member without a name, and not the whole of one with a long name', () => {
    expect(refusal({ lead: { 'name': 'a', '': 1 } })).toBe('lead."": unknown field');
    expect(refusal({ ['x'.repeat(1_000)]: 1, lead: { name: 'a' } })).toBe(
      `${'x'.repeat(100)}: unknown field`,
    );
  });

  it('reports a hundred errors of a body that is full of them', () => {
    const nonsense = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x${index}`, index]));
    expect(refusal(nonsense).split('; ')).toHaveLength(100);
  });
});

describe('a body with values that no text can be made of', () => {
  const odd = { toString: 1 };
  const bodies: [what: string, path: string, body: unknown][] = [
    ['an unknown member', login, { username: 'a', password: 'b', c: odd }],
    ['in place of a text', login, { username: odd, password: 'b' }],
    ['in an array', login, { username: 'a', password: 'b', c: [[odd]] }],
    ['in a body that may be empty', '/_/auth/logout', { '': odd }],
  ];
  it.each(bodies)('is 400 validation: %s', async (_what, path, body) => {
    expectError(await as().post(path, body), 400, 'validation');
  });

  it('is refused with what each part must be', () => {
    expect(refusal({ lead: [odd], members: odd, motto: odd })).toBe(
      'lead: must be an object; members: must be an array; motto: must be a string',
    );
  });
});
