import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/*
 * Figures of how easily a newcomer finds their way in the code. Each has a goal. A figure that misses its goal has a
 * bound in `test/sizes.json`, which falls with it. `npm run sizes` prints all figures. `--write` lowers the bounds of
 * figures that got smaller, and sets those of named ones, such as `'lib: lines'`, to today's value; the commit says why
 * they had to grow. `--write --all` sets all.
 */

const FILE = join(import.meta.dirname, 'sizes.json');

export type Sizes = Readonly<Record<string, number>>;

/** The bounds. Those of exports and types are the figures of the projects that the code is modelled on. */
const GOALS: Sizes = {
  'lib: lines': 53_000,
  'lib: exports in 1,000 lines': 28,
  'lib: types in 1,000 lines': 16,
  'lib: imports past doors': 0,
  'lib: files under 40 lines with one importer': 0,
  'lib: spreads of a literal': 0,
  'lib: tuple declarations': 0,
  "imports of packages' insides": 0,
  'words of earlier versions': 0,
  'test: lines a line of lib': 1.5,
  'docs: words': 33_000,
};
/** Maximum number of names that one door exports. */
const MAX_NAMES = 35;
/** Maximum number of words of a page of docs. */
const MAX_PAGE_WORDS = 1_500;

const goalOf = (name: string): number | undefined => {
  if (name.endsWith('index.ts: names')) return MAX_NAMES;
  return name.endsWith('.md: words') ? MAX_PAGE_WORDS : GOALS[name];
};

/** How far a figure may fall below its bound before the bound must be lowered. */
const SLACK = 0.02;

const textOf = (file: string) => readFileSync(file, 'utf8');
const linesOf = (files: readonly string[]) =>
  files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);
const countIn = (files: readonly string[], pattern: RegExp) =>
  files.reduce((sum, file) => sum + (textOf(file).match(pattern)?.length ?? 0), 0);

const ROOM = /^lib\/([^/]+)\//;
/** A room's door: its index.ts, or that of a folder in it. */
const DOOR = /^lib\/[^/]+\/(?:[^/]+\/)?index\.ts$/;
const IMPORTED =
  /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'\s*\)/gm;

/** An import of a file: `isLater` if it is loaded only when needed, `isType` if it is not loaded at all. */
export type Import = { readonly of: string; readonly isLater: boolean; readonly isType: boolean };

export const importsIn = (file: string, text: string): readonly Import[] =>
  [...text.matchAll(IMPORTED)].map(([, type, early, later]) => ({
    of: normalize(join(dirname(file), early ?? later ?? '')),
    isLater: later !== undefined,
    isType: type !== undefined,
  }));

/** Imports of a room's inner files from outside the room, which bypass its door. */
export function pastDoors(files: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(files).flatMap(([file, text]) =>
    importsIn(file, text)
      .map(({ of }) => of)
      .filter((of) => ROOM.test(of) && !DOOR.test(of))
      // The entry points of the package may import from any room.
      .filter((of) => ROOM.exec(of)?.[1] !== ROOM.exec(file)?.[1] && !of.startsWith('lib/entries/'))
      .map((of) => `${file} imports ${of}`),
  );
}

/** The number of names that a door exports. */
export const namesAt = (text: string): number =>
  [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].reduce(
    (sum, [, names = '']) => sum + names.split(',').filter((name) => name.trim() !== '').length,
    text.match(EXPORTED)?.length ?? 0,
  );

const EXPORTED = /^export (?:default |async |abstract )*(?:const|let|function\*?|class|type|interface) \w/gm;
const NAMED = /^export (?:async )?(?:const|function\*?|class|type|interface) (\w+)/gm;
const TYPES = /^(?:export )?(?:type|interface) \w+/gm;

/** The number of files that are loaded with an entry, itself included, and the length of its longest chain of imports. */
export function reachOf(
  entry: string,
  read: (file: string) => string = textOf,
): { readonly files: number; readonly chain: number } {
  const chains = new Map<string, number>();
  const chainFrom = (file: string): number => {
    const known = chains.get(file);
    if (known !== undefined) return known;
    const loaded = importsIn(file, read(file)).filter(({ isLater, isType }) => !isLater && !isType);
    const chain = 1 + Math.max(0, ...loaded.map(({ of }) => chainFrom(of)));
    chains.set(file, chain);
    return chain;
  };
  const chain = chainFrom(entry);
  return { files: chains.size, chain };
}

/** Names that several of these texts export, once for each text beyond the first. A name should mean one thing. */
function repeatedExports(texts: readonly string[]): readonly string[] {
  const names = texts.flatMap((text) => [...new Set([...text.matchAll(NAMED)].map(([, name = '']) => name))]);
  return names.filter((name, at) => names.indexOf(name) < at);
}

/**
 * Files of fewer than 40 lines that only one other file imports: they should be part of that file. Files that are
 * imported lazily, such as commands or clients of AWS, and values of a table (`definition.ts`) are excepted.
 */
export function fragmentsIn(
  files: readonly string[],
  read: (file: string) => string = textOf,
): readonly string[] {
  const importers = new Map<string, Set<string>>();
  const later = new Set<string>();
  for (const file of files)
    for (const { of, isLater } of importsIn(file, read(file))) {
      importers.set(of, (importers.get(of) ?? new Set()).add(file));
      if (isLater) later.add(of);
    }
  const isEntry = (file: string) =>
    DOOR.test(file) || file.startsWith('lib/entries/') || file.endsWith('/definition.ts');
  return files.filter(
    (file) =>
      !isEntry(file) &&
      importers.get(file)?.size === 1 &&
      !later.has(file) &&
      read(file).split('\n').length <= 40 &&
      file.endsWith('.ts'),
  );
}

const EARLIER =
  /\b(?:formerly|used to be|previously|legacy|deprecated|backwards?[- ]compatib\w*|(?:old|earlier|former) format)\b/gi;

/** Each page of docs that is not generated, with its number of words. */
const pages = () =>
  ['README.md', ...globSync('docs/**/*.md').sort()]
    .map((page) => ({ page, text: textOf(page) }))
    .filter(({ text }) => !text.startsWith('<!-- generated'))
    .map(({ page, text }) => ({ page, words: text.split(/\s+/).filter(Boolean).length }));

/** Computes the present figures. */
export function measure(): Sizes {
  const lib = globSync('lib/**/*.{ts,tsx}').sort();
  const all = [...lib, ...globSync('{functions,infra,build,bin}/**/*.{ts,js}').sort()];
  const lines = linesOf(lib);
  const perThousand = (count: number) => Math.round((count / lines) * 10_000) / 10;
  const reaches = globSync('functions/*/handler.ts')
    .sort()
    .map((handler) => ({ handler, ...reachOf(handler) }));
  const words = pages();
  return {
    'lib: lines': lines,
    'lib: files': lib.length,
    'lib: exports in 1,000 lines': perThousand(countIn(lib, EXPORTED)),
    'lib: types in 1,000 lines': perThousand(countIn(lib, TYPES)),
    'lib: imports past doors': pastDoors(Object.fromEntries(all.map((file) => [file, textOf(file)]))).length,
    ...Object.fromEntries(
      lib.filter((file) => DOOR.test(file)).map((door) => [`${door}: names`, namesAt(textOf(door))]),
    ),
    'lib: files under 40 lines with one importer': fragmentsIn(lib).length,
    'lib: spreads of a literal': countIn(lib, /\.\.\.\{/g),
    'lib: tuple declarations': countIn(lib, /^\s*const \[[^\]]*\] = \[/gm),
    'lib: exports of one name': repeatedExports(lib.map(textOf)).length,
    "imports of packages' insides": countIn(all, /from '(?![.']|node:)[^']*\/src\//g),
    'words of earlier versions': countIn([...all, ...words.map(({ page }) => page)], EARLIER),
    ...Object.fromEntries(
      reaches.flatMap(({ handler, files, chain }) => [
        [`${handler}: files`, files],
        [`${handler}: longest chain`, chain],
      ]),
    ),
    'test: lines a line of lib': Math.round((linesOf(globSync('test/**/*.{ts,tsx}')) / lines) * 100) / 100,
    'docs: words': words.reduce((sum, page) => sum + page.words, 0),
    ...Object.fromEntries(
      words.filter((page) => page.words > MAX_PAGE_WORDS).map((page) => [`${page.page}: words`, page.words]),
    ),
  };
}

export const readBounds = (): Sizes => JSON.parse(textOf(FILE));

/** The figures that exceed their bounds or need a new one, with what to do, one line each. */
export function faultsIn(sizes: Sizes, bounds: Sizes): readonly string[] {
  const names = [...new Set([...Object.keys(sizes), ...Object.keys(bounds)])];
  return names.flatMap((name) => {
    const size = sizes[name] ?? 0;
    const goal = goalOf(name);
    const bound = bounds[name] ?? goal ?? 0;
    const shown = goal === undefined ? '' : ` (goal ${goal})`;
    if (size > bound)
      return `${name}: ${size}, bound ${bound}${shown}: make it smaller, or say in the commit why it grows and run npm run sizes -- --write '${name}'`;
    const isMet = goal !== undefined && size <= goal;
    if (bounds[name] !== undefined && (isMet || size < bound * (1 - SLACK)))
      return `${name}: ${size}, bound ${bound}${shown}: lower the bound by npm run sizes -- --write`;
    return [];
  });
}

/** The new bounds of figures that miss their goal or have none. A bound only rises if it is named. */
const lowered = (sizes: Sizes, bounds: Sizes, named: readonly string[]): Sizes =>
  Object.fromEntries(
    Object.entries(sizes)
      .filter(([name, size]) => size > (goalOf(name) ?? -1))
      .filter(([name]) => name in bounds || named.includes(name))
      .map(([name, size]) => [name, named.includes(name) ? size : Math.min(size, bounds[name] ?? 0)]),
  );

if (import.meta.main) {
  const sizes = measure();
  const words = process.argv.slice(2);
  const all = words.includes('--all') ? Object.keys(sizes) : words;
  if (words.includes('--write'))
    writeFileSync(FILE, `${JSON.stringify(lowered(sizes, readBounds(), all), null, 2)}\n`);
  const bounds = readBounds();
  for (const [name, size] of Object.entries(sizes))
    console.log(`${name}: ${size}, bound ${bounds[name] ?? 'none'}, goal ${goalOf(name) ?? 'none'}`);
  process.exitCode = faultsIn(sizes, bounds).length > 0 ? 1 : 0;
}
