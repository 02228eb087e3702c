import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from './run-command.ts';

/**
 * A formula as people write it, and what the check must find. Items are separated by spaces, columns by |. `warned`:
 * the names that the warnings are about; absent if there must be none.
 */
type KnownFormula = Readonly<Record<'formula' | 'type', string>> & {
  readonly [Name in 'columns' | 'functions' | 'references' | 'is' | 'warned']?: string;
};

/** First documented syntax and MySQL's common core, then syntax that the platform may refuse: it causes a warning. */
const corpus = readFileSync(join(import.meta.dirname, '../formula/corpus.ndjson'), 'utf8')
  .trim()
  .split('\n')
  .map((line): KnownFormula => JSON.parse(line));

/** Invalid formulas: the line and column of the fault, and its message. */
const broken: readonly (readonly [formula: string, place: string, expected: string])[] = [
  ['', '1:1', 'Expected a value'],
  ['SUM(`A`', '1:8', 'Expected ")"'],
  ['SUM(`A`))', '1:9', 'has no matching "("'],
  ['SUM(`A`) +', '1:11', 'Expected a value'],
  ['`A` * / 3', '1:7', 'Expected a value'],
  ["CASE WHEN `A` = 1 THEN 'x'", '1:27', 'Expected END'],
  ['CASE WHEN `A` THEN END', '1:20', 'Expected a value'],
  ['CASE WHEN\n  THEN 1 END', '2:3', 'Expected a value'],
  ["`A` = 'x", '1:7', 'not closed'],
  ['`A = 1', '1:1', 'not closed'],
  ['[A = 1', '1:1', 'not closed'],
  ['"A', '1:1', 'not closed'],
  ['1 /* to do', '1:3', 'not closed'],
  ['CONCAT(`A`,, `B`)', '1:12', 'Expected a value'],
  ['CONCAT(`A`, )', '1:13', 'Expected a value'],
  ['`A` IN ()', '1:9', 'Expected a value'],
  ['`A` IN (1, 2', '1:13', 'Expected ")"'],
  ['`A` BETWEEN 1 OR 2', '1:15', 'Expected AND'],
  ['`A` `B`', '1:5', 'Expected an operator'],
  ['‘Closed Won’', '1:1', 'Unexpected ‘'],
  ['DATE_ADD(`D`, INTERVAL 1)', '1:25', 'Expected a unit'],
  ['SUM()', '1:1', 'SUM takes 1 argument'],
  ['IFNULL(`A`)', '1:1', 'IFNULL takes 2 arguments'],
  ['SUM(SUM(`A`) FIXED (BY))', '1:23', 'Expected a column'],
  ['RANK() OVER (PARTITION `A`)', '1:24', 'Expected BY'],
];

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
    'reports the position of each column in backticks of $formula, and no other position',
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
      '-:2:5: warning: The platform may not have a function "SQRT".',
      '-:2:10: warning: "Sales" is read as a column: write columns in backticks, text in single quotes.',
    ]);
  });
});

type Warning = { readonly message: string };
type Reference = { readonly kind: string; readonly id: string };
