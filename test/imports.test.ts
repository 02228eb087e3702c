import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { circlesOf } from './circles.ts';

/**
 * The rooms of the code base, from the lowest up: a file imports from its own room and from those below it. A name that
 * is not a folder is one file. The longest name that matches is a file's room.
 */
const ROOMS = [
  'lib/base',
  'lib/text',
  'lib/formula',
  'lib/locations.ts',
  'lib/store',
  'lib/columns.ts',
  'lib/prices.ts',
  'lib/table',
  'lib/pace',
  'lib/platform',
  'lib/model/rules',
  'lib/snapshot',
  'lib/tables/parquet',
  'lib/model',
  'lib/settings.ts',
  'lib/logger.ts',
  'lib/session.ts',
  'lib/jobs/queue',
  'lib/jobs/ledger',
  'lib/jobs',
  'lib/tables',
  'lib/report',
  'lib/entries',
  'lib/contract.ts',
  'lib/sandbox',
  'lib/cli',
  'functions',
  'infra',
] as const;

/** An import in the sources: the file, and what it imports (a path in the project, or a package). */
type Import = { readonly from: string; readonly of: string };

const FROM = /(?:\bfrom\s|\bimport\s*\(?)\s*'([^']+)'/g;

const files = globSync('{lib,functions,infra}/**/*.{ts,tsx,js}');

const imports: readonly Import[] = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(FROM)].map(([, named = '']) => ({
    from: file,
    of: named.startsWith('.') ? normalize(join(dirname(file), named)) : named,
  })),
);

const within = (folder: string) => (path: string) => path === folder || path.startsWith(`${folder}/`);

/** The room of a path in the project; undefined for a package. */
const roomOf = (path: string): string | undefined =>
  ROOMS.filter((room) => within(room)(path)).sort((a, b) => b.length - a.length)[0];

const floorOf = (path: string): number => (ROOMS as readonly (string | undefined)[]).indexOf(roomOf(path));

/** The imports that a rule forbids, each as one readable line. */
const breaches = (forbidden: (each: Import) => boolean) =>
  imports.filter(forbidden).map(({ from, of }) => `${from} imports ${of}`);

describe('in the rooms of lib,', () => {
  test('the check finds real import lines', () => {
    expect(imports).toContainEqual({ from: 'lib/cli/command-line.ts', of: 'lib/cli/terminal/terminal.ts' });
    expect(imports).toContainEqual({ from: 'lib/pace/fleet-pace.ts', of: 'p-queue' });
  });

  test('every file is in a room', () => {
    expect(files.filter((file) => roomOf(file) === undefined)).toEqual([]);
  });

  test('nothing imports from a room above its own', () => {
    expect(breaches(({ from, of }) => floorOf(of) > floorOf(from))).toEqual([]);
  });

  test('infra imports only the contract from lib, and nothing imports infra or functions', () => {
    const isOurs = (path: string) => roomOf(path) !== undefined;

    expect(
      breaches(({ from, of }) => {
        const [room, imported] = [roomOf(from), roomOf(of)];
        if (room === imported || !isOurs(of)) return false;
        if (room === 'infra') return imported !== 'lib/contract.ts';
        return imported === 'functions' || imported === 'infra';
      }),
    ).toEqual([]);
  });

  test('only the command line imports the sandbox', () => {
    const [inSandbox, inCli] = [within('lib/sandbox'), within('lib/cli')];

    expect(breaches(({ from, of }) => inSandbox(of) && !inSandbox(from) && !inCli(from))).toEqual([]);
  });
});

/** Matches the relative path of an import, which may begin on an earlier line. */
const RELATIVE =
  /^(?:import|export)\b[^'"`;]*?from '(\.[^']+)'|^import '(\.[^']+)'|\bawait import\('(\.[^']+)'\)/gm;

/** Imports whose file does not exist under the imported name, each as one readable line. */
const misnamed = (path: string, source: string): readonly string[] =>
  [...source.matchAll(RELATIVE)]
    .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    // Paths in programs that a test starts are relative to the project's folder.
    .filter((named) => !existsSync(join(dirname(path), named)) && !existsSync(named))
    .map((named) => `${path} imports ${named}`);

describe('an import names its file with its extension', () => {
  // Node needs the right extension, while the compiler accepts others too. Biome's rule for this takes half of the time
  // of all its rules.
  test('in every source file', () => {
    const sources = globSync('{lib,functions,infra,test}/**/*.{ts,tsx,js}');

    expect(sources.flatMap((path) => misnamed(path, readFileSync(path, 'utf8')))).toEqual([]);
  });

  test('and the check finds another extension, or a missing one', () => {
    const source = ["import { a } from './circles.js';", "export {\n  b,\n} from './circles';"].join('\n');

    expect(misnamed('test/imports.test.ts', source)).toEqual([
      'test/imports.test.ts imports ./circles.js',
      'test/imports.test.ts imports ./circles',
    ]);
  });
});

describe('import cycles', () => {
  test('are found by the check', () => {
    const circle = [
      { from: 'a', of: 'b' },
      { from: 'b', of: 'c' },
      { from: 'c', of: 'b' },
    ];

    expect(circlesOf(circle)).toEqual([['b', 'c']]);
  });

  test('do not exist between files', () => {
    expect(circlesOf(imports)).toEqual([]);
  });
});

describe('lib contains', () => {
  test('no Lambda event type and no CDK', () => {
    const cloud = /^(aws-lambda|@types\/aws-lambda|aws-cdk-lib|constructs|cdk-nag)/;

    expect(breaches(({ from, of }) => within('lib')(from) && cloud.test(of))).toEqual([]);
  });

  test('no use of the environment, except for the terminal of the process', () => {
    const readers = globSync('lib/**/*.ts').filter((file) =>
      /process\.env\b/.test(stripComments(readFileSync(file, 'utf8'))),
    );

    expect(readers).toEqual(['lib/cli/terminal/terminal.ts']);
  });

  test('no import of DuckDB, which is optional, except in the one file that says how to install it', () => {
    const loaders = files.filter((file) =>
      /^import (?!type\b).*'@duckdb|\bimport\('@duckdb/m.test(readFileSync(file, 'utf8')),
    );

    expect(loaders).toEqual(['lib/tables/duckdb/schema.ts']);
  });
});

/** Everything that the files of a folder import, directly or indirectly. */
function importedFrom(folder: string): readonly string[] {
  const found = new Set(files.filter(within(folder)));
  for (const file of found) for (const { from, of } of imports) if (from === file) found.add(of);
  return [...found];
}

describe('the report page', () => {
  const PAGE = 'lib/report/page';

  test('runs in a browser, without any Node module', () => {
    const ours = importedFrom(PAGE).filter((path) => roomOf(path) !== undefined);
    const others = importedFrom(PAGE).filter((path) => roomOf(path) === undefined);

    expect(ours).toContain('lib/model/rules/closure.ts');
    expect(others.sort()).toEqual(['@observablehq/plot', 'diff', 'preact', 'preact/hooks']);
  });

  test('creates elements, never markup from a string', () => {
    const markup = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/;

    expect(files.filter(within(PAGE)).filter((file) => markup.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});

const stripComments = (source: string) => source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
