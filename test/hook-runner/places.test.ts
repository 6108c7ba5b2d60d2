// Where hook files that do not load are said to be wrong: in the author's text, whatever was made of it.
import { describe, expect, it } from 'vitest';
import { startForTest } from './runner.ts';

describe('the loader of the hook runner, of a file that is wrong,', () => {
  const loadOne = async (source: string, file = 'a.ts') =>
    (await (await startForTest()).load({ [file]: source })).errors[0];

  it.each([
    ['a.ts', `const a: number = 1;\nconst b: = 2;`, 2, 10],
    ['a.ts', `import { b } from './a.ts';\n\nenum Kind { One, `, 3, 17],
    ['a.js', `let a = 1;\nlet a = 2;`, 2, 5],
    [
      'a.ts',
      `interface A { b: 1 }\nimport { b } from './a.ts';\n\nexport const  a = 1, b = 2;\n\n  let  a = b;`,
      6,
      8,
    ],
    ['a.ts', `enum A {\n  B,\n}\n\nfunction f() { ; break; }`, 5, 18],
    ['a.ts', `type A = 1;\nclass B {\n  @f m() {}\n}`, 3, 3],
    ['a.js', `class B {\n  @f m() {}\n}`, 2, 3],
    ['a.js', `const a: number = 1;`, 1, 7],
  ])('names file, line and column of a syntax error: %s %j', async (file, source, line, column) => {
    expect(await loadOne(source, file)).toMatchObject({
      message: expect.stringMatching(/^SyntaxError: /),
      file,
      line,
      column,
    });
  });

  it.each([
    ['strips types', `type A = number;\n\nconst a: A = 1;\n  null.x;`, 4, 8],
    ['rewrites enums', `enum A { B }\n\nconst a: A = A.B;\n  null.x;`, 4, 8],
  ])('maps a position to the author’s text when it %s', async (_title, source, line, column) => {
    const error = await loadOne(source);
    expect(error).toMatchObject({ file: 'a.ts', line, column });
    expect(error?.stack).toContain(`a.ts:${line}:${column}`);
  });

  it.each(['a.js', 'a.ts'])('says that a decorator in %s is none of the language', async (file) => {
    const fault = await loadOne(`class A {\n  @bound()\n  run() {}\n}`, file);
    expect(fault?.message).toContain('hook files cannot have decorators');
    expect((await loadOne('const a = `${1}`; #', file))?.message).not.toContain('decorators');
  });
});
