import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/*
 * One dialect, where the linter has no rule for it. The sources are formatted, so that whatever begins in the first
 * column is the module's own.
 */

type Line = { readonly file: string; readonly source: string };

/** The declarations of constants in modules, each up to the line that ends it. */
function declarations(sources: readonly Line[]): readonly { readonly at: string; readonly text: string }[] {
  return sources.flatMap(({ file, source }) =>
    [...source.matchAll(/^(?:export )?const (\w+)[\s\S]*?;$/gm)].map(([text, name]) => ({
      at: `${file}: ${name}`,
      text,
    })),
  );
}

/** Functions with a braced body that are constants; one with a declared type has its parameters' types from that. */
const bracedConstants = (sources: readonly Line[]) =>
  declarations(sources)
    .filter(({ text }) =>
      /^(?:export )?const \w+ = (?:async )?[<(][^;]*?\)(?:: [^=]+)? => \{$/.test(firstOf(text)),
    )
    .map(({ at }) => at);

/** Numbers, texts, regular expressions and sets that are not in upper case. */
const lowerCaseConstants = (sources: readonly Line[]) =>
  declarations(sources)
    .filter(({ text }) => /^(?:export )?const [a-z]\w*(?:: [^=]+)? =\s+(?:-?\d|['`/]|new Set\b)/.test(text))
    .map(({ at }) => at);

/** A declaration's text up to the end of the first line on which brackets are balanced, or a body begins. */
function firstOf(text: string): string {
  let depth = 0;
  for (const [index, character] of [...text].entries()) {
    if ('([{'.includes(character)) depth += 1;
    if (')]}'.includes(character)) depth -= 1;
    const isBody = depth === 1 && text.slice(index - 3, index + 2) === '=> {\n';
    if (isBody || (depth === 0 && character === '\n')) return text.slice(0, index + 1);
  }
  return text;
}

const sources = globSync('{lib,functions,infra,test}/**/*.{ts,js}').map((file) => ({
  file,
  source: readFileSync(file, 'utf8'),
}));

test('the checks find what they look for', () => {
  const file = 'a.ts';
  const source = [
    'const pageBytes = 65_536;',
    'const PAGE = 3;',
    'const none: ReadonlySet<string> = new Set();',
    'export const f = (a: number) => {',
    '  return a;',
    '};',
    'const g = async ({',
    '  a,',
    '}: X): Promise<void> => {',
    '  use(a);',
    '};',
    'const typed: Run = (a) => {',
    '  use(a);',
    '};',
    'const h = (a: number) => a + 1;',
    'const made = create((a) => {',
    '  use(a);',
    '});',
    '',
  ].join('\n');

  expect(lowerCaseConstants([{ file, source }])).toEqual(['a.ts: pageBytes', 'a.ts: none']);
  expect(bracedConstants([{ file, source }])).toEqual(['a.ts: f', 'a.ts: g']);
});

test('a function with a braced body is declared as one', () => {
  expect(bracedConstants(sources)).toEqual([]);
});

test('a plain value of a module is named in upper case; tests may keep short names', () => {
  expect(lowerCaseConstants(sources.filter(({ file }) => !file.startsWith('test/')))).toEqual([]);
});

/** Zod's records and what they drop: a member named `__proto__`. `record-schema.ts` has the schemas that do not. */
const zodRecords = (sources: readonly Line[]) =>
  sources.filter(({ source }) => /\bz\.(?:partialR|r)ecord\(/.test(source)).map(({ file }) => file);

test('objects with names from outside keep all of them', () => {
  const lib = sources.filter(({ file }) => /^(?:lib|functions)\//.test(file) && !file.includes('/sandbox/'));

  expect(zodRecords(lib)).toEqual([]);
  expect(zodRecords([{ file: 'a.ts', source: 'const a = z.record(z.string(), z.number());' }])).toEqual([
    'a.ts',
  ]);
});

/** Reads JSON without a limit. These read what this process printed, a single text, within limits, or
 * an object of the store that counts as damaged if it cannot be read. */
const PARSERS = [
  'lib/jobs/ledger/create-ledger.ts',
  'lib/base/json/bounded-line.ts',
  'lib/base/json/exact-json.ts',
  'lib/base/json/json.ts',
  'lib/snapshot/changes/line-members.ts',
  'lib/snapshot/page/value-at.ts',
  'lib/model/columns/packed.ts',
  'lib/tables/parquet/names.ts',
  'lib/tables/parquet/read-node.ts',
];

test('what comes from outside is parsed by functions that limit its depth', () => {
  const parsing = sources
    .filter(({ file }) => /^(?:lib|functions)\//.test(file) && !file.includes('/sandbox/'))
    .filter(({ source }) => source.split('\n').some((line) => /^[^*]*\bJSON\.parse\(/.test(line)))
    .map(({ file }) => file);

  expect(parsing.filter((file) => !PARSERS.includes(file))).toEqual([]);
});

test('no test replaces a module: other files run in the same process, and would get it too', () => {
  const replacing = sources.filter(({ source }) => /^vi\.(?:do)?[mM]ock\(/m.test(source));

  expect(replacing.map(({ file }) => file)).toEqual([]);
});
