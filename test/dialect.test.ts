import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/* Rules about the code that the linter does not have, and whose violation would go unnoticed. */

const sources = globSync('{lib,functions,infra,test}/**/*.{ts,js}').map((file) => ({
  file,
  source: readFileSync(file, 'utf8'),
}));

/** Uses of Zod's records, which drop a member named `__proto__`. `inputs.ts` has schemas that do not. */
const zodRecords = (sources: readonly { readonly file: string; readonly source: string }[]) =>
  sources.filter(({ source }) => /\bz\.(?:partialR|r)ecord\(/.test(source)).map(({ file }) => file);

test('no schema for outside data uses z.record, which drops a member named `__proto__`', () => {
  // These schemas describe the results of tools and are not used to parse; names of gates are places, also in an
  // editor's schema.
  const described = ['lib/report/mcp/tools/records.ts', 'lib/snapshot/publish/gates.ts'];
  const lib = sources.filter(({ file }) => /^(?:lib|functions)\//.test(file) && !file.includes('/sandbox/'));

  expect(zodRecords(lib).filter((file) => !described.includes(file))).toEqual([]);
  expect(zodRecords([{ file: 'a.ts', source: 'const a = z.record(z.string(), z.number());' }])).toEqual([
    'a.ts',
  ]);
});

/**
 * Files that parse JSON without a limit. They read what this process printed, a single text, within limits, or an
 * object of the store that counts as damaged if it cannot be read.
 */
const PARSERS = [
  'lib/jobs/ledger/ledger.ts',
  'lib/base/json/json.ts',
  'lib/base/json/json.ts',
  'lib/snapshot/changes/line-members.ts',
  'lib/snapshot/page/value-at.ts',
  'lib/model/packed.ts',
  'lib/report/mcp/bounded-lines.ts',
  'lib/report/mcp/answer.ts',
  'lib/tables/parquet/part-files.ts',
  'lib/tables/parquet/fit-lines.ts',
  'lib/tables/parquet/names.ts',
  'lib/tables/parquet/column-encoders.ts',
];

test('data from outside is parsed by functions that limit its depth', () => {
  const parsing = sources
    .filter(({ file }) => /^(?:lib|functions)\//.test(file) && !file.includes('/sandbox/'))
    .filter(({ source }) => source.split('\n').some((line) => /^[^*]*\bJSON\.parse\(/.test(line)))
    .map(({ file }) => file);

  expect(parsing.filter((file) => !PARSERS.includes(file))).toEqual([]);
});

test('the checks of the promises share no code with what they check', () => {
  const observers = sources.filter(({ file }) => file.startsWith('test/proofs/whole/promises/'));

  expect(observers.length).toBeGreaterThan(3);
  expect(observers.filter(({ source }) => source.includes('/lib/')).map(({ file }) => file)).toEqual([]);
});

test('no test replaces a module, since other test files in the same process would get the replacement', () => {
  const replacing = sources.filter(({ source }) => /^vi\.(?:do)?[mM]ock\(/m.test(source));

  expect(replacing.map(({ file }) => file)).toEqual([]);
});
