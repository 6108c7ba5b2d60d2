// What the type checker writes, read.
import { expect, it } from 'vitest';
import { parseWarnings } from '../../../../api/hooks/files/warnings.ts';

it('reads the errors of `deno check`, over several lines too, and nothing else', () => {
  const output =
    `TS2345 [ERROR]: Argument of type '{ a: string; }' is not assignable to parameter of type 'X'.
  Types of property 'a' are incompatible.
    Type 'string' is not assignable to type 'number'.
f({ a: '' });
  ~~~~~~~~~
    at file:///app/own.ts:7:3

TS2304 [ERROR]: Cannot find name 'x'.
x;
^
    at file:///types/hooks.d.ts:1:1

Found 2 errors.

error: Type checking failed.
`;
  expect(parseWarnings(output)).toEqual([{
    file: 'own.ts',
    message: "TS2345: Argument of type '{ a: string; }' is not assignable to parameter of type 'X'. " +
      "Types of property 'a' are incompatible. Type 'string' is not assignable to type 'number'.",
    line: 7,
    column: 3,
  }]);
  const frame = '  |\n1 | x y\n  |   ~\n';
  expect(parseWarnings(`error: SyntaxError: Expected ';'\n${frame}    at file:///app/a.ts:1:3\n`)).toEqual(
    [],
  );
});

it('reads a hundred of them at most, and so much of each', () => {
  const error = `TS2304 [ERROR]: ${'x'.repeat(3_000)}\nx;\n^\n    at file:///app/a.ts:1:1\n\n`;
  const warnings = parseWarnings(error.repeat(101));
  expect(warnings).toHaveLength(100);
  expect(warnings[0]?.message).toHaveLength(2_000);
});
