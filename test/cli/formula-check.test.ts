import { describe, expect, test } from 'vitest';
import { broken, corpus } from '../formula/corpus.ts';
import { runCommand } from './run-command.ts';

const check = (formula: string, ...flags: readonly string[]) =>
  runCommand(['formula', 'check', '-', ...flags], {}, formula);

describe('formula check', () => {
  test('is tested with at least 150 formulas', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(150);
  });

  test.each(corpus)('finds what $formula uses', async (known) => {
    const { code, out } = await check(known.formula, '--json');

    const found = JSON.parse(out);
    expect({
      code,
      status: found.status,
      type: found.dataType,
      columns: found.columns.join('|'),
      functions: found.functions.join(' '),
      references: found.references.map(({ kind, id }: Reference) => `${kind}:${id}`).join(' '),
      is: [found.aggregated ? 'aggregated' : '', found.analytic ? 'analytic' : ''].filter(Boolean).join(' '),
    }).toEqual({
      code: 0,
      status: 'valid',
      type: known.type,
      columns: known.columns ?? '',
      functions: known.functions ?? '',
      references: known.references ?? '',
      is: known.is ?? '',
    });
    const words = known.warned?.split(' ') ?? [];
    expect(found.warnings.map(({ message }: Warning) => message)).toEqual(
      words.map((word) => expect.stringContaining(word)),
    );
  });

  test.each(corpus)(
    'reports the position of each column in backticks of $formula, and no other',
    async ({ formula }) => {
      const { out } = await check(formula, '--json');

      const { columnPositions, columns } = JSON.parse(out);
      for (const { columnName, columnPosition } of columnPositions) {
        expect(formula.startsWith(columnName, columnPosition)).toBe(true);
        expect(columns).toContain(columnName.slice(1, -1).replaceAll('``', '`'));
      }
    },
  );

  test.each(broken)('calls %j broken at %s', async (formula, place, expected) => {
    const { code, out } = await check(formula);

    expect(code).toBe(1);
    expect(out.split('\n')[0]).toContain(`-:${place}: `);
    expect(out).toContain(expected);
  });

  test('prints a warning with its position, and exits 0', async () => {
    const { code, out } = await check('SUM(`A`)\n  + SQRT(Sales)');

    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'valid, DOUBLE, aggregated',
      'functions: SERVICE_OP_ADD, SQRT, SUM',
      'columns: A, Sales',
      'not aggregated: `Sales`',
      '-:2:5: warning: The platform is not known to have a function "SQRT".',
      '-:2:10: warning: "Sales" is read as a column: write columns in backticks, text in single quotes.',
    ]);
  });
});

type Warning = { readonly message: string };
type Reference = { readonly kind: string; readonly id: string };
