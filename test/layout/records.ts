// The one way to write records, as a function from source files to complaints.
import { isTest } from './imports.ts';
import { lineOf, type Source, type SyntaxNode, walk } from './sources.ts';

const writer = 'api/records/write.ts';

/** The statements that write records, and what announces them, by the file that has them. */
const statements: Readonly<Record<string, readonly string[]>> = {
  'storage/app/records/records.ts': ['insertRecord', 'updateRecord', 'deleteRecord'],
  'storage/app/records/related-records.ts': ['emptyRelation', 'deleteTogether'],
  'storage/app/records/versions.ts': ['updateVersion'],
  'api/records/announce.ts': ['announce'],
};

/** What has to happen around a write, by the part of the process and the method that does it. */
const surroundings = new Set(['writeOrder.inTurn', 'writes.during', 'quotas.write']);

/** Statements that write records, and what surrounds a write, outside of the file that holds both together. */
export function recordErrors({ path, text, imports, program }: Source): string[] {
  if (path === writer || isTest(path)) return [];
  const taken = imports.flatMap(({ file = '', names, isTypeOnly }) =>
    isTypeOnly
      ? []
      : names.filter((name) => name === '*' ? file in statements : statements[file]?.includes(name))
  );
  const errors = taken.map((name) => `${path}: takes ${name} past ${writer}`);
  walk(program, (node) => {
    const called = node.type === 'CallExpression' ? methodOf(node.callee as SyntaxNode) : undefined;
    if (called !== undefined && surroundings.has(called)) {
      errors.push(`${path}:${lineOf(text, node.start)}: calls ${called} past ${writer}`);
    }
  });
  return errors;
}

/** Of `a.b.c`: `b.c`. */
function methodOf({ type, object, property }: SyntaxNode): string | undefined {
  if (type !== 'MemberExpression') return undefined;
  const owner = object as SyntaxNode;
  const name = owner.type === 'MemberExpression' ? owner['property'] : owner;
  return `${nameOf(name)}.${nameOf(property)}`;
}

function nameOf(node: unknown): string {
  return typeof node === 'object' && node !== null && 'name' in node ? String(node.name) : '';
}
