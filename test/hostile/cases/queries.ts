import type { CommandCase } from '../command-case.ts';

/* SQL that nobody means, or that somebody means badly. */

const CLEAR = '\u001b[2J\u001b]0;title\u0007';
const LONG = 'x'.repeat(1_000_000);

const queries = (says: RegExp, ...lines: readonly (readonly string[])[]) =>
  lines.map(
    (argv): CommandCase => ({
      name: ['query', ...argv].map((word) => JSON.stringify(word).slice(0, 60)).join(' '),
      argv: ['query', ...argv],
      code: 2,
      says,
    }),
  );

export const queryCases: readonly CommandCase[] = [
  ...queries(
    /^platform-sync: expected /,
    [''],
    [';;'],
    ['SELECT 1\u0000'],
    ["COPY (SELECT 1) TO '{folder}/x'"],
    ["EXPLAIN ANALYZE COPY (SELECT 1) TO '{folder}/x'"],
    ["ATTACH '{folder}/x.db'"],
    ['SET memory_limit = 1'],
    ['SELECT 1; SELECT 2'],
    ...['__proto__', 'constructor', '../x', LONG, CLEAR].map((name) => ['--saved', name]),
  ),
  ...queries(
    /Expected a whole number|expected a file/,
    ['SELECT 1', '--memory', '-1'],
    ['SELECT 1', '--parquet', '/nowhere/x'],
  ),
  ...queries(
    /^platform-sync: (?:Parser|Catalog|Binder|Permission|Missing Extension) Error: /,
    [LONG],
    ['SELECT \u001b[2J'],
    ['SELECT * FROM __proto__'],
    ["SELECT * FROM '/etc/passwd'"],
    ["SELECT * FROM read_csv('/etc/passwd')"],
    ["SELECT * FROM read_parquet('http://127.0.0.1:1/x')"],
    ["SELECT getenv('HOME')"],
    ['SELECT ('.repeat(20_000)],
  ),
];
