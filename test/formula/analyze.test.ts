import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { analyzeFormula } from '../../lib/formula/analyze.ts';
import { quoteColumn, quoteText } from '../../lib/formula/grammar.ts';
import { anyCodePoint } from '../any-text.ts';
import { column } from './arbitrary-expression.ts';

describe('analyzeFormula', () => {
  test('reports the same about a CASE over dates as the platform does', () => {
    const text =
      "CASE WHEN DateDiff(Current_Date(), `Order Date`) <= 30 AND `Order Date` < AddDate(Current_Date, 1) THEN 'new' ELSE 'old' END";

    const analysis = analyzeFormula(text);

    expect(analysis).toEqual({
      status: 'VALID',
      functions: ['ADDDATE', 'CURRENT_DATE', 'DATEDIFF'],
      columnPositions: [
        { columnName: '`Order Date`', columnPosition: 35 },
        { columnName: '`Order Date`', columnPosition: 59 },
      ],
      aggregated: false,
      analytic: false,
      nonAggregatedColumns: ['`Order Date`'],
      dataType: 'STRING',
      warnings: [],
      columns: ['Order Date'],
      references: [],
    });
  });

  test('reports the same about an aggregate with arithmetic as the platform does', () => {
    const analysis = analyzeFormula('(SUM(`Sales`) - SUM(`Cost`)) / SUM(`Sales`) * -100 + `Bonus`');

    expect(analysis).toEqual({
      status: 'VALID',
      functions: ['SERVICE_OP_ADD', 'SERVICE_OP_DIVIDE', 'SERVICE_OP_MULTIPLY', 'SERVICE_OP_SUBTRACT', 'SUM'],
      columnPositions: [
        { columnName: '`Sales`', columnPosition: 5 },
        { columnName: '`Cost`', columnPosition: 20 },
        { columnName: '`Sales`', columnPosition: 35 },
        { columnName: '`Bonus`', columnPosition: 53 },
      ],
      aggregated: true,
      analytic: false,
      nonAggregatedColumns: ['`Bonus`'],
      dataType: 'DECIMAL',
      warnings: [],
      columns: ['Sales', 'Cost', 'Bonus'],
      references: [],
    });
  });

  test('leaves all facts empty for a formula that does not parse', () => {
    const analysis = analyzeFormula('SUM(`Sales`');

    expect(analysis).toEqual({
      status: 'INVALID',
      faults: [
        {
          message: 'Expected ")", but the formula ends here. The "(" at line 1, column 4 is not closed.',
          offset: 11,
          line: 1,
          column: 12,
        },
      ],
      functions: [],
      columnPositions: [],
      aggregated: false,
      analytic: false,
      nonAggregatedColumns: [],
      columns: [],
      references: [],
    });
  });

  test('does not count CASE, AND, comparisons or signs as functions', () => {
    const analysis = analyzeFormula('CASE WHEN -`a` = 1 AND NOT `b` IN (2) OR `c` IS NULL THEN 1 END');

    expect(analysis.functions).toEqual([]);
  });

  test('counts a remainder as MOD', () => {
    const analysis = analyzeFormula('`a` % 2');

    expect(analysis.functions).toEqual(['MOD']);
  });

  test.each([
    ['RANK() OVER (ORDER BY SUM(`x`))', true, true, []],
    ['SUM(SUM(`x`)) OVER (PARTITION BY `a` ORDER BY `b`)', true, true, ['`a`', '`b`']],
    ['LAG(`x`) OVER (ORDER BY `d`)', false, true, ['`x`', '`d`']],
    ['SUM(SUM(`x`) FIXED (BY `a`))', true, false, []],
    ['SUM(CASE WHEN `a` = 1 THEN `x` END) + `y` + `y`', true, false, ['`y`']],
    ['COUNT(*)', true, false, []],
    ['ABS(`x`)', false, false, ['`x`']],
  ])(
    'reports whether %s aggregates, and which columns are not aggregated',
    (text, aggregated, analytic, columns) => {
      const analysis = analyzeFormula(text);

      expect(analysis).toMatchObject({ aggregated, analytic, nonAggregatedColumns: columns });
    },
  );

  test('lists the calculations and variables that a formula needs, once each, with all their digits', () => {
    const analysis = analyzeFormula(
      "SERVICE_BEAST_MODE(90071992547409931) + x_Variable(7) + service_beast_mode(90071992547409931) + ACME_BEAST_MODE('007')",
    );

    expect(analysis.references).toEqual([
      { kind: 'calculation', id: '90071992547409931' },
      { kind: 'variable', id: '7' },
      { kind: 'calculation', id: '7' },
    ]);
    expect(analysis.functions).toEqual(['SERVICE_OP_ADD']);
  });

  test('gives columns their UTF-16 offsets and ignores backticks in comments and strings', () => {
    const text = "-- `no`\nCONCAT(/* `no` 😀 */ `é😀`, '`no`', '\\'`no`', `a``b`)";

    const analysis = analyzeFormula(text);

    expect(analysis.columnPositions).toEqual([
      { columnName: '`é😀`', columnPosition: 29 },
      { columnName: '`a``b`', columnPosition: 54 },
    ]);
  });

  test('finds every column at its opening backtick, in any context', () => {
    const item = fc.record({
      comment: fc.string({ unit: anyCodePoint }).map((inner) => `/* \` ' ${inner.replaceAll('*/', '')} */`),
      text: fc.string({ unit: anyCodePoint }).map((inner) => quoteText(`\`${inner}\``)),
      name: column.map(({ name }) => quoteColumn(name)),
    });
    fc.assert(
      fc.property(fc.array(item, { minLength: 1 }), (items) => {
        const args = items.map(({ comment, text, name }) => `${comment}${text},${comment}${name}${comment}`);
        const formula = `CONCAT(${args.join(',')})`;

        const { status, columnPositions } = analyzeFormula(formula);

        expect(status).toBe('VALID');
        expect(columnPositions.map(({ columnName }) => columnName)).toEqual(items.map(({ name }) => name));
        for (const { columnName, columnPosition } of columnPositions) {
          expect(formula.slice(columnPosition, columnPosition + columnName.length)).toBe(columnName);
        }
      }),
    );
  });
});
