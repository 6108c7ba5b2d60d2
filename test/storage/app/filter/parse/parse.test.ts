// The grammar: what is a filter, where a mistake is, and what is too much.
import { describe, expect, it } from 'vitest';
import { FilterError } from '../../../../../storage/app/filter/parse/error.ts';
import { parse } from '../../../../../storage/app/filter/parse/parse.ts';
import type { Expression, Operand } from '../../../../../storage/app/filter/parse/tree.ts';

/** What is wrong with a filter, or undefined. */
function faultOf(filter: string): { code: string; position: number; message: string } | undefined {
  try {
    parse(filter);
    return undefined;
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return { code: error.code, position: error.position, message: error.message };
  }
}

/** A tree as a text with every parenthesis, in which operands show their kind. */
function spelled(expression: Expression): string {
  switch (expression.kind) {
    case 'and':
    case 'or':
      return `(${expression.parts.map(spelled).join(` ${expression.kind} `)})`;
    case 'not':
      return `not ${spelled(expression.part)}`;
    case 'in':
      return `${operand(expression.left)} in [${expression.items.map(operand).join(', ')}]`;
    case 'compare':
      return `${operand(expression.left)} ${expression.operator} ${operand(expression.right)}`;
    case 'some':
      return `${operand(expression.path)}{${spelled(expression.part)}}`;
  }
}

function operand(value: Operand): string {
  switch (value.kind) {
    case 'path':
      return `<${[...value.from === 'row' ? [] : [`@${value.from}`], ...value.names].join('.')}>`;
    case 'request':
      return `@${value.part}${value.name === '' ? '' : `:${value.name}`}`;
    case 'now':
    case 'null':
      return value.kind;
    case 'text':
      return JSON.stringify(value.value);
    case 'number':
    case 'boolean':
      return String(value.value);
  }
}

describe('parse', () => {
  it.each([
    ['a = 1', '<a> = 1'],
    [`a='x'&&b!="y"`, '(<a> = "x" and <b> != "y")'],
    ['a = 1 || b = 2 && c = 3', '(<a> = 1 or (<b> = 2 and <c> = 3))'],
    ['(a = 1 || b = 2) && c = 3', '((<a> = 1 or <b> = 2) and <c> = 3)'],
    ['a = 1 OR b = 2 And NOT c = 3', '(<a> = 1 or (<b> = 2 and not <c> = 3))'],
    ['!a = 1 && b = 2', '(not <a> = 1 and <b> = 2)'],
    ['!!(a = 1)', 'not not <a> = 1'],
    ['a in [1, "x", null, b]', '<a> in [1, "x", null, <b>]'],
    ['a IN []', '<a> in []'],
    ['author.company.name ~ 1', '<author.company.name> ~ 1'],
    ['meta.tags.0 !~ -1.5e+3', '<meta.tags.0> !~ -1500'],
    ['1 < 2', '1 < 2'],
    ['a >= true and b <= FALSE', '(<a> >= true and <b> <= false)'],
    ['NULL = a', 'null = <a>'],
    ['@now > a', 'now > <a>'],
    [
      '@request.auth.id=@request.body.x && @request.query.q=@request.method',
      '(@auth:id = @body:x and @query:q = @method)',
    ],
    ['\ta\n=\r1 ', '<a> = 1'],
  ])('reads %s', (filter, tree) => {
    expect(spelled(parse(filter))).toBe(tree);
  });

  it.each([
    ['and = 1 and or = 2 or not = 3', '((<and> = 1 and <or> = 2) or <not> = 3)'],
    ['in in [in] and not not in [1]', '(<in> in [<in>] and not <not> in [1])'],
    ['not in = 1', 'not <in> = 1'],
    ['not and = or', 'not <and> = <or>'],
    [
      '`true` = true and `null` != null and `not`.x = 1',
      '(<true> = true and <null> != null and <not.x> = 1)',
    ],
    ['true.x = 1', '<true.x> = 1'],
    ['select = from and where.table = 1', '(<select> = <from> and <where.table> = 1)'],
  ])('takes words for fields where only a field can stand: %s', (filter, tree) => {
    expect(spelled(parse(filter))).toBe(tree);
  });

  it.each([
    [String.raw`'it\'s'`, "it's"],
    [String.raw`"say \"hi\""`, 'say "hi"'],
    [`'"'`, '"'],
    [String.raw`'a\\b\/c\n\r\t\b\f'`, 'a\\b/c\n\r\t\b\f'],
    [String.raw`'\u00e9\ud83d\ude00'`, 'é😀'],
    [`'é😀'`, 'é😀'],
    [String.raw`'100\%'`, '100\\%'],
    [String.raw`'100\\%'`, '100\\%'],
    [`''`, ''],
  ])('reads the text %s', (literal, value) => {
    expect(parse(`a = ${literal}`)).toMatchObject({ right: { kind: 'text', value } });
  });

  it.each([
    ['', 1, 'expected a field or a value, found the end'],
    ['a', 2, 'expected an operator such as =, found the end'],
    ['a =', 4, 'expected a field or a value, found the end'],
    ['a == 1', 4, 'expected a field or a value, found "="'],
    ['a = 1 b = 2', 7, 'expected an operator between two conditions, found "b"'],
    ['(a = 1', 7, 'expected ")", found the end'],
    ['a = 1)', 6, 'expected an operator between two conditions, found ")"'],
    ['a in 1', 6, 'expected "[", found a number'],
    ['a in [1 2]', 9, 'expected ",", found a number'],
    ['a in [1,]', 9, 'expected a field or a value, found "]"'],
    ['a in [1', 8, 'expected ",", found the end'],
    ['a && b', 3, 'expected an operator such as =, found "&&"'],
    ['a = 1 & b = 2', 7, 'unexpected "&"'],
    ['a = 1; drop table x', 6, 'unexpected ";"'],
    ["a = 'x", 5, 'the text has no end'],
    [`a = 'é😀' ü`, 10, 'unexpected "ü"'],
    [String.raw`a = '\d'`, 5, String.raw`"\\d" is no escape; a backslash is written twice`],
    [String.raw`a = '\u0000'`, 5, 'a text cannot hold a NUL or half a character'],
    ["a = '\0'", 5, 'a text cannot hold a NUL or half a character'],
    [String.raw`a = '\ud800'`, 5, 'a text cannot hold a NUL or half a character'],
    ['a = 1e400', 5, '"1e400" is too large a number, or too close to zero'],
    ['a = @now.x', 5, '"@now.x" does not exist'],
    ['@collections.x = 1', 1, '"@collections.x" does not exist'],
    ['@request = 1', 1, '"@request" does not exist'],
    ['@request.auth = 1', 1, '"@request.auth" does not exist'],
    ['@request.body.a.b = 1', 1, '"@request.body.a.b" does not exist'],
    ['@request.method.x = 1', 1, '"@request.method.x" does not exist'],
    ['a = .5', 5, 'unexpected "."'],
    ['a = +5', 5, 'unexpected "+"'],
    ['1a = 5', 2, 'expected an operator such as =, found "a"'],
    ['`a b` = 5', 1, 'unexpected "`"'],
  ])('refuses %s', (filter, position, message) => {
    expect(faultOf(filter)).toEqual({
      code: 'parse_error',
      position,
      message: `${message} (at character ${position})`,
    });
  });

  it('says of a member that the principal does not have what it says of a field', () => {
    expect(faultOf('x = 1 && @request.auth.password_hash = 1')).toMatchObject({
      code: 'unknown_column',
      position: 10,
    });
  });

  it('shows only the beginning of a long mistake', () => {
    expect(faultOf(`@${'x'.repeat(4_000)} = 1`)?.message.length).toBeLessThan(100);
  });
});

describe('filter.limits', () => {
  const among = (count: number) => Array.from({ length: count }, (_, index) => `a = ${index}`).join(' || ');

  it('filter.limits: reads 4,096 characters, and not one more', () => {
    const text = (length: number) => `a = '${'😀'.repeat(length - 6)}'`;
    expect(faultOf(text(4_096))).toBeUndefined();
    expect(faultOf(text(4_097))).toMatchObject({ code: 'parse_error', position: 4_097 });
  });

  it.each([
    ['parentheses', (depth: number) => `${'('.repeat(depth)}a = 1${')'.repeat(depth)}`],
    ['negations', (depth: number) => `${'!'.repeat(depth)}a = 1`],
    ['words', (depth: number) => `${'not '.repeat(depth)}a = 1`],
    [
      'both',
      (depth: number) => `${'!('.repeat(depth / 2)}${'!'.repeat(depth % 2)}a = 1${')'.repeat(depth / 2)}`,
    ],
  ])('filter.limits: reads %s to a depth of 32, and no deeper', (_, nested) => {
    expect(faultOf(nested(32))).toBeUndefined();
    expect(faultOf(nested(33))).toMatchObject({ code: 'parse_error' });
  });

  it('filter.limits: counts depth, not how often it is left again', () => {
    expect(faultOf(Array.from({ length: 100 }, () => '((a = 1))').join('&&'))).toBeUndefined();
  });

  it('filter.limits: reads 128 comparisons, and not one more', () => {
    expect(faultOf(among(128))).toBeUndefined();
    expect(faultOf(among(129))).toMatchObject({ code: 'parse_error', position: among(128).length + 7 });
  });

  it('filter.limits: counts every item of a list as a comparison', () => {
    const list = (count: number) => `a in [${Array.from({ length: count }, () => '1').join(',')}]`;
    expect(faultOf(list(128))).toBeUndefined();
    expect(faultOf(list(129))).toMatchObject({ code: 'parse_error' });
    expect(faultOf(`${list(100)} or ${among(28)}`)).toBeUndefined();
    expect(faultOf(`${list(100)} or ${among(29)}`)).toMatchObject({ code: 'parse_error' });
    expect(faultOf(Array.from({ length: 129 }, () => 'a in []').join('||'))).toMatchObject({
      code: 'parse_error',
    });
  });

  it.each([
    ['parentheses', '('.repeat(1_000_000)],
    ['negations', '!'.repeat(1_000_000)],
    ['quotes', `a = "${'\\'.repeat(1_000_001)}`],
    ['a name', 'a.'.repeat(1_000_000)],
    ['comparisons', 'a=1||'.repeat(1_000_000)],
    ['a list', `a in [${'1,'.repeat(1_000_000)}`],
    ['blanks', ' '.repeat(2_000_000)],
    ['backslashes within the limit', `a = '${'\\'.repeat(4_000)}`],
    ['digits within the limit', `a = ${'1'.repeat(4_000)}`],
  ])('filter.limits: refuses too many %s within 20 ms', (_, filter) => {
    // The fastest of three: what is measured is the parser, not what else the machine does.
    const times = [1, 2, 3].map(() => {
      const started = performance.now();
      expect(faultOf(filter)?.code).toBe('parse_error');
      return performance.now() - started;
    });
    expect(Math.min(...times)).toBeLessThan(20);
  });
});
