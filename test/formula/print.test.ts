import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printFormula } from '../../lib/formula/print.ts';
import { scaled } from '../scale.ts';
import { expression } from './arbitrary-expression.ts';
import { parsed, withoutOffsets } from './formulas.ts';

describe('printFormula', () => {
  test('prints any tree as text that parses to the same tree', () => {
    fc.assert(
      fc.property(expression, (tree) => {
        const again = parsed(printFormula(tree));

        expect(withoutOffsets(again)).toEqual(withoutOffsets(tree));
      }),
      { numRuns: scaled(200, 1_000) },
    );
  });

  test.each([
    ['(1 + 2) + 3', '1 + 2 + 3'],
    ['1 - (2 - 3)', '1 - (2 - 3)'],
    ['(1 * 2) + 3', '1 * 2 + 3'],
    ['1 * (2 + 3)', '1 * (2 + 3)'],
    ['8 / (4 / 2)', '8 / (4 / 2)'],
    ['-(1 + 2)', '-(1 + 2)'],
    ['-(-1)', '-(-1)'],
    ['1 - -1', '1 - -1'],
    ['(`a` = 1) AND (`b` = 2)', '`a` = 1 AND `b` = 2'],
    ['(`a` OR `b`) AND `c`', '(`a` OR `b`) AND `c`'],
    ['NOT (`a` AND `b`)', 'NOT (`a` AND `b`)'],
    ['(NOT `a`) AND `b`', 'NOT `a` AND `b`'],
    ['(NOT `a`) = `b`', '(NOT `a`) = `b`'],
    ['(`a` + 1) BETWEEN (2) AND (3 * 4)', '`a` + 1 BETWEEN 2 AND 3 * 4'],
    ['(`a` IN (1)) IN (2)', '(`a` IN (1)) IN (2)'],
    ['(`a` = 1) IS NULL', '`a` = 1 IS NULL'],
    ['`a` = (1 IS NULL)', '`a` = (1 IS NULL)'],
    ['((SUM((`x`))))', 'SUM(`x`)'],
  ])('keeps the parentheses that %s needs and no others', (text, canonical) => {
    const printed = printFormula(parsed(text));

    expect(printed).toBe(canonical);
  });
});
