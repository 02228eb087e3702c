import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/*
 * How large the house is, against the bounds of `test/sizes.json`. `npm run sizes` prints each number. With `--write` it
 * lowers the bounds of what got smaller; what is named besides, such as `'lib/store: lines'`, gets today's number, and the
 * commit says why it had to grow. `--write --all` names all.
 */

const FILE = join(import.meta.dirname, 'sizes.json');

/** The folders of `lib` that are no rooms of their own; neither are its loose files. */
const BASE = ['entries'];

/** What all of it shall have at most in the end: lines with blanks and comments, and words. */
const GOALS: Sizes = {
  'lib: lines': 55_000,
  'lib/base: lines': 2_200,
  'lib/text: lines': 1_200,
  'lib/store: lines': 1_900,
  'lib/table: lines': 1_300,
  'lib/platform: lines': 2_400,
  'lib/pace: lines': 2_200,
  'lib/formula: lines': 1_600,
  'lib/snapshot: lines': 7_290,
  'lib/jobs: lines': 9_190,
  'lib/tables: lines': 4_700,
  'lib/model: lines': 2_320,
  'lib/report: lines': 6_800,
  'lib/sandbox: lines': 5_500,
  'lib/cli: lines': 7_600,
  'docs: words': 35_000,
  'a page reaches: files': 120,
  'a message reaches: files': 140,
  'a question reaches: files': 90,
};

/** Where the three ways of the data begin: whoever follows one opens what it imports, but not what it loads when needed. */
const WAYS = {
  page: 'functions/snapshot/handler.ts',
  message: 'functions/run-jobs/handler.ts',
  question: 'lib/cli/commands/where-used.ts',
};

/** The goal of a page: one with fewer words has no bound. */
const PAGE_WORDS = 1_500;

/** By how much a number may be below its bound before the bound must follow. */
const SLACK = 0.02;

export type Sizes = Readonly<Record<string, number>>;

const textOf = (file: string) => readFileSync(file, 'utf8');
const linesOf = (files: readonly string[]) =>
  files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);

/** The room of a file; undefined outside `lib`. */
function roomOf(file: string): string | undefined {
  const [isInside, folder = 'base'] = /^lib\/(?:([^/]+)\/)?/.exec(file) ?? [];
  if (isInside === undefined) return undefined;
  return BASE.includes(folder) ? 'base' : folder;
}

const IMPORTED = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

/** The rooms whose inside a file of another room imports, once for each import. A loose file of `lib` has no inside. */
const aroundIn = (file: string, text: string): readonly string[] =>
  [...text.matchAll(IMPORTED)]
    .map(([, named = '']) => normalize(join(dirname(file), named)))
    .filter((of) => roomOf(of) !== roomOf(file) && !/^lib\/([^/]+\/index\.ts|[^/]+)$/.test(of))
    .flatMap((of) => roomOf(of) ?? []);

const NEEDED = /^(?:import|export)\s+(?!type\s)(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'/gm;

/** How many files a file imports, itself and what those import included; not types, nor what is loaded when needed. */
export function reachOf(entry: string, read: (file: string) => string = textOf): number {
  const reached = new Set([entry]);
  // A set goes through what is added meanwhile, too.
  for (const file of reached)
    for (const [, named = ''] of read(file).matchAll(NEEDED))
      reached.add(normalize(join(dirname(file), named)));
  return reached.size;
}

const EXPORTED = /^export (?:async )?(?:const|function\*?|class|type|interface) (\w+)/gm;

/** Names that several of these texts export, once for each text beyond the first: one name is to mean one thing. */
function repeatedExports(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => [
    ...new Set([...text.matchAll(EXPORTED)].map(([, name = '']) => name)),
  ]);
  return names.filter((name, at) => names.indexOf(name) < at);
}

const EARLIER =
  /\b(?:formerly|used to be|previously|legacy|deprecated|backwards?[- ]compatib\w*|(?:old|earlier|former) format)\b/gi;

/** Words that speak of how it once was. Nothing was released, so nothing is remembered. */
const earlierIn = (text: string): readonly string[] => text.match(EARLIER) ?? [];

/** Today's numbers. */
export function measure(): Sizes {
  const files = globSync('lib/**/*.{ts,tsx}').sort();
  const rooms = Object.entries(Object.groupBy(files, (file) => roomOf(file) ?? ''));
  const outside = globSync('{functions,infra,build,bin}/**/*.{ts,js}');
  const docs = ['README.md', ...globSync('docs/**/*.md').sort()];
  const pages = docs
    .map((page) => ({ page, text: textOf(page) }))
    .filter(({ text }) => !text.startsWith('<!-- generated'))
    .map(({ page, text }) => ({ page, words: text.split(/\s+/).filter(Boolean).length }));
  const around = [...files, ...outside].flatMap((file) => aroundIn(file, textOf(file)));
  return Object.fromEntries([
    ['lib: lines', linesOf(files)],
    ['lib: files', files.length],
    ...rooms.map(([room, those = []]) => [`lib/${room}: lines`, linesOf(those)] as const),
    ...Object.entries(Object.groupBy(around.sort(), (room) => room)).map(
      ([room, those = []]) => [`lib/${room}: imports around its index.ts`, those.length] as const,
    ),
    ['lib: exports of one name', repeatedExports(files.map(textOf)).length],
    [
      'words of earlier versions',
      [...files, ...outside, ...docs].flatMap((file) => earlierIn(textOf(file))).length,
    ],
    ...Object.entries(WAYS).map(([way, entry]) => [`a ${way} reaches: files`, reachOf(entry)] as const),
    ['test: lines', linesOf(globSync('test/**/*.{ts,tsx}'))],
    ['docs: words', pages.reduce((sum, { words }) => sum + words, 0)],
    ...pages
      .filter(({ words }) => words > PAGE_WORDS)
      .map(({ page, words }) => [`${page}: words`, words] as const),
  ]);
}

export const readBounds = (): Sizes => JSON.parse(textOf(FILE));

/** What is wrong with these sizes, and what to do, a line each. */
export function faultsIn(sizes: Sizes, bounds: Sizes): readonly string[] {
  const names = [...new Set([...Object.keys(sizes), ...Object.keys(bounds)])];
  return names.flatMap((name) => {
    const [size = 0, bound = 0] = [sizes[name], bounds[name]];
    const goal = GOALS[name] === undefined ? '' : ` (goal ${GOALS[name]})`;
    if (size > bound)
      return `${name}: ${size}, bound ${bound}${goal}: make it smaller, or say in the commit why it grows and run npm run sizes -- --write '${name}'`;
    if (size < bound * (1 - SLACK) || sizes[name] === undefined)
      return `${name}: ${size}, bound ${bound}${goal}: lower the bound by npm run sizes -- --write`;
    return [];
  });
}

/** The new bounds: never higher, but for those that are named. */
const lowered = (sizes: Sizes, bounds: Sizes, named: readonly string[]): Sizes =>
  Object.fromEntries(
    Object.entries(sizes)
      .filter(([name]) => name in bounds || named.includes(name))
      .map(([name, size]) => [name, named.includes(name) ? size : Math.min(size, bounds[name] ?? 0)]),
  );

if (import.meta.main) {
  const [sizes, words] = [measure(), process.argv.slice(2)];
  const all = words.includes('--all') ? Object.keys(sizes) : words;
  if (words.includes('--write'))
    writeFileSync(FILE, `${JSON.stringify(lowered(sizes, readBounds(), all), null, 2)}\n`);
  const bounds = readBounds();
  for (const [name, size] of Object.entries(sizes))
    console.log(`${name}: ${size}, bound ${bounds[name] ?? 'none'}, goal ${GOALS[name] ?? 'none'}`);
  process.exitCode = faultsIn(sizes, bounds).length > 0 ? 1 : 0;
}
