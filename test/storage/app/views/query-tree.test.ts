// What a query consists of, read from the tree that PostgreSQL keeps of it.
import { describe, expect, it } from 'vitest';
import { partsOf } from '../../../../storage/app/views/query-tree.ts';

describe('the parts of a query', () => {
  it('are all that its tree names, however deep', () => {
    const tree =
      '({QUERY :commandType 1 :rtable ({RANGETBLENTRY :eref {ALIAS :aliasname notes} :rtekind 0 :relid 16 ' +
      ':inh true}) :targetList ({TARGETENTRY :expr {FUNCEXPR :funcid 2626 :funcresulttype 2278 :args ({CONST ' +
      ':consttype 701 :constvalue 8 [ 0 0 ]} {OPEXPR :opno 96 :opresulttype 16 :args ({SQLVALUEFUNCTION :op 9 ' +
      ':type 19})})} :resname v :resorigtbl 0})})';
    expect(partsOf(tree)).toEqual({
      nodes: new Set([
        ...[
          'QUERY',
          'RANGETBLENTRY',
          'ALIAS',
          'TARGETENTRY',
          'FUNCEXPR',
          'CONST',
          'OPEXPR',
          'SQLVALUEFUNCTION',
        ],
      ]),
      functions: [2626],
      operators: [96],
      relations: [16],
      types: [2278, 701, 16, 19],
      valueFunctions: [9],
    });
  });

  it('are not hidden by a name that looks like a part of the tree', () => {
    // So PostgreSQL writes the name `{CONST} x {`.
    const tree = '({QUERY :aliasname \\{CONST\\}\\ x\\ \\{ :expr {FUNCEXPR :funcid 7}})';
    expect(partsOf(tree)).toMatchObject({ nodes: new Set(['QUERY', 'FUNCEXPR']), functions: [7] });
  });
});
