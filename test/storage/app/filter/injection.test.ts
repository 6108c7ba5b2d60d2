// Attempts to get a text of one's own into the SQL.
import { describe, expect, it } from 'vitest';
import { FilterError } from '../../../../storage/app/filter/parse/error.ts';
import { fold } from '../../../../storage/app/filter/fold.ts';
import { toSql } from '../../../../storage/app/filter/sql/to-sql.ts';
import { appOf, conditionOf, requestOf, scopeIn } from './fixture.ts';
import { expectParametersOnly } from './sql-tokens.ts';

const scope = scopeIn(appOf());
const request = requestOf();

describe('injection', () => {
  const evil = [
    "x' or '1'='1",
    'x" or "1"="1',
    "'; drop table posts; --",
    '"; drop table posts; --',
    '$1); select pg_sleep(10); --',
    '\\',
    "\\' or 1=1 --",
    "E'\\\\'",
    '/* */ union select 1 --',
    '{{constructor}}',
    '%',
    '_',
    "!'!",
  ];

  it.each(evil)('no literal reaches the SQL, only parameters do: %s', (text) => {
    for (const quote of ["'", '"']) {
      const literal = quote + text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`) + quote;
      for (
        const filter of [
          `title = ${literal}`,
          `title !~ ${literal}`,
          `meta.x in [${literal}]`,
          `!(author.name < ${literal})`,
          `${literal} ~ title`,
        ]
      ) {
        const { text: sql, params } = toSql(fold(conditionOf(filter, scope), request), {
          alias: 't',
          firstParameter: 1,
        });
        expectParametersOnly(sql, params);
        expect(sql).not.toContain('drop');
        expect(params.length).toBeGreaterThan(0);
      }
    }
  });

  it.each(evil)('no value of a request does: %s', (text) => {
    const hostile = requestOf({
      auth: { id: text, email: text, role: text },
      body: { x: text },
      query: { x: text },
      method: text,
    });
    for (const operand of ['auth.id', 'auth.email', 'auth.role', 'body.x', 'query.x', 'method']) {
      for (
        const filter of [
          `title ~ @request.${operand}`,
          `owner != @request.${operand}`,
          `meta.x = @request.${operand}`,
        ]
      ) {
        const { text: sql, params } = toSql(fold(conditionOf(filter, scope), hostile), {
          alias: 't',
          firstParameter: 1,
        });
        expectParametersOnly(sql, params);
      }
    }
  });

  it.each([
    'title"; drop table posts; -- = 1',
    '"title" = title; select 1',
    'title/**/= 1',
    'title -- = 1',
    "meta.x' = 1",
    'meta.`x` = 1',
    "meta.'x' = 1",
    'meta.$1 = 1',
    'author.name"."x = 1',
    'title = title::text',
    'title = (select 1)',
    'title = now()',
    "title = 'a' || 'b'",
    "title = 'a' 'b'",
    'title LIKE 1',
    'title = 1 union select 1',
    'title IS NULL',
    'title <> 1',
    'title ~* 1',
    'title = $$a$$',
    "title = E'a'",
    '`title" or 1=1 --` = 1',
  ])('no name or operator opens a way: %s', (filter) => {
    expect(() => conditionOf(filter, scope)).toThrow(FilterError);
  });

  it('a step into JSON is a parameter too', () => {
    const { text, params } = toSql(fold(conditionOf('meta.drop.select.__proto__ = 1', scope), request), {
      alias: 't',
      firstParameter: 7,
    });
    expectParametersOnly(text, params, 7);
    expect(params).toEqual(['drop', 'select', '__proto__', '1']);
    expect(text).not.toMatch(/drop|__proto__/);
  });

  it('an alias is quoted, and the parameters are counted from the given number', () => {
    const { text, params } = toSql(fold(conditionOf("title = 'a'", scope), request), {
      alias: 'x" or 1=1 --',
      firstParameter: 12,
    });
    expect(text).toBe('("x"" or 1=1 --"."title" collate "C" = $12::text)');
    expect(params).toEqual(['a']);
  });
});
