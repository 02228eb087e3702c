import type { CommandCase } from '../command-case.ts';
import { CLEAR, LONG, usage } from './usage.ts';

/* SQL that is a mistake or an attack. */

const queries = (says: RegExp, ...lines: readonly (readonly string[])[]) =>
  usage(says, ...lines.map((argv) => ['query', ...argv]));

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
    [LONG],
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
    ['SELECT \u001b[2J'],
    ['SELECT * FROM __proto__'],
    ["SELECT * FROM '/etc/passwd'"],
    ["SELECT * FROM read_csv('/etc/passwd')"],
    ["SELECT * FROM read_parquet('http://127.0.0.1:1/x')"],
    ["SELECT getenv('HOME')"],
    ['SELECT ('.repeat(20_000)],
  ),
];
