// What is decided of a filter without a record, and before the body is read.
import { describe, expect, it } from 'vitest';
import { decideEarly, fold, foldEarly, isClosed } from '../../../../storage/app/filter/fold.ts';
import { conditionOf, requestOf } from './fixture.ts';

const asAda = requestOf({
  auth: { id: '019b1f2e-0000-7000-8000-00000000000a', email: 'ada@example.com', role: 'user' },
});
const anonymous = requestOf();

describe('fold', () => {
  it.each([
    ['@request.auth.id != null', true, false],
    ["@request.auth.role = 'user' || title = 'x'", true, undefined],
    ["@request.auth.role = 'admin' && title = 'x'", false, false],
    ["@request.method = 'GET' && @now > '2026-01-01' && @now < '2027-01-01'", true, true],
    ['owner = @request.auth.id', undefined, false],
    ["!(owner = @request.auth.id && state = 'public')", undefined, undefined],
    ["owner = @request.auth.id && state = 'public'", undefined, false],
    ["1 = 1 && 'a' < 'b' && title != null", undefined, undefined],
    ['title in [] || 1 = 2', false, false],
  ])('decides %s for a user: %s, for anybody: %s', (rule, forAda, forAnybody) => {
    const condition = conditionOf(rule);
    for (const [request, passes] of [[asAda, forAda], [anonymous, forAnybody]] as const) {
      const residue = fold(condition, request);
      expect(residue.kind === 'constant' ? residue.passes : undefined).toBe(passes);
    }
  });

  it('leaves no constant beside what the record decides', () => {
    const residue = fold(conditionOf("@request.method = 'GET' && (1 = 2 || title = 'x')"), anonymous);
    expect(residue).toMatchObject({ kind: 'compare', operator: '=', right: { value: 'x' } });
  });
});

describe('decideEarly', () => {
  it.each([
    ["@request.auth.id != '' && @request.body.x = 1", undefined, false],
    ["@request.auth.role = 'user' || @request.body.x = 1", true, undefined],
    ["@request.auth.role = 'admin' && @request.body.x = 1", false, false],
    ['@request.body.x = null', undefined, undefined],
    ['@request.body.x = @request.auth.id', undefined, false],
    ["@request.body.x = 1 && title = 'x'", undefined, undefined],
    ["title = 'x' && @request.auth.id = 'nobody'", false, false],
  ])('says of %s before the body is read, for a user: %s, for anybody: %s', (rule, forAda, forAnybody) => {
    const condition = conditionOf(rule);
    expect(decideEarly(condition, asAda)).toBe(forAda);
    expect(decideEarly(condition, anonymous)).toBe(forAnybody);
  });
});

describe('isClosed', () => {
  it.each([
    ["owner = @request.auth.id && state = 'public'", true],
    ["@request.auth.role = 'user' || @request.body.x = 1", true],
    ['@request.body.x = 1', false],
    ["@request.body.x = 1 && title = 'x'", false],
    ["title = 'x' || (owner = @request.auth.id && @request.body.x = 1)", false],
  ])('says of %s, before the body is read, that nothing of it is open: %s', (rule, closed) => {
    expect(isClosed(foldEarly(conditionOf(rule), asAda))).toBe(closed);
  });

  it('says so only where the body cannot make known what is unknown of every related record', () => {
    const rule = '!author.posts_via_author(!(@request.auth.id = @request.auth.id && @request.body.y = 1))';
    expect(isClosed(foldEarly(conditionOf(rule), anonymous))).toBe(false);
  });
});
