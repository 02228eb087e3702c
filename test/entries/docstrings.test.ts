import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Card, DataFile, FileRecord, FunctionExecution } from '../../lib/entries/platform.ts';
import type { Calculation, CalculationRow, Sentiment } from '../../lib/platform/records.ts';

/* Checks what an editor shows on hover over the package's exports. */

const source = (file: string) => readFileSync(file, 'utf8');

/** The names that an entry exports from other files, with the file that declares each. */
function exportsOf(entry: string): readonly (readonly [file: string, name: string])[] {
  const found = source(entry).matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g);
  return [...found].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.replace(/\btype\b/, '').trim())
      .filter(Boolean)
      .map((name) => declared(join(dirname(entry), from), name)),
  );
}

/** Follows a name through the doors of rooms to the file that declares it. */
function declared(file: string, name: string): readonly [file: string, name: string] {
  if (DECLARATION(name).test(source(file))) return [file, name];
  for (const [, names = '', from = ''] of source(file).matchAll(
    /(?:ex|im)port (?:type )?\{([^}]*)\} from '(\.[^']+)'/g,
  ))
    if (new RegExp(`\\b${name}\\b`).test(names)) return declared(join(dirname(file), from), name);
  return [file, name];
}

const DECLARATION = (name: string, before = '') =>
  new RegExp(`${before}^export (?:async )?(?:const|type|function\\*?|class) ${name}\\b`, 'm');

const OF_NAMES = ['lib/entries/platform.ts', 'lib/entries/formula.ts', 'infra/index.ts'].flatMap(exportsOf);

const isDocumented = (text: string, name: string) => DECLARATION(name, '\\*/\\n').test(text);

test('every name that the package exports has a docstring', () => {
  expect(OF_NAMES.length).toBeGreaterThan(40);
  expect(OF_NAMES.filter(([file, name]) => !isDocumented(source(file), name))).toEqual([]);
});

/** The members of an object or type, and whether each has a docstring. */
function membersOf(file: string, name: string) {
  const [, body = ''] =
    new RegExp(`(?:const|type) ${name} = (?:[^\\n{]*)\\{\\n([\\s\\S]*?)\\n\\}`).exec(source(file)) ?? [];
  const members = [...body.matchAll(/(^|\*\/(?: |\n))(?: {2})?(?:readonly )?'?([\w-]+)'?\??:/gm)];
  return members
    .filter(([whole]) => /^ {2}\S|\*\//.test(whole))
    .map(([whole, , member = '']) => ({ member, isDocumented: whole.includes('*/') }));
}

const DOCUMENTED = [
  ...['calculationRow', 'calculation', 'file', 'card', 'execution', 'sentiment', 'dataFile'].map(
    (name) => ['lib/platform/records.ts', name, 5] as const,
  ),
  ['infra/config-schema.ts', 'instanceFields', 40],
  ['infra/storage.ts', 'ExistingStorage', 4],
  ['infra/network.ts', 'ExistingNetwork', 3],
  ['infra/token-secret.ts', 'ExistingToken', 2],
] as const;

describe('a docstring exists', () => {
  test.each(DOCUMENTED)('at every member of %s: %s', (file, name, least) => {
    const members = membersOf(file, name);

    expect(members.length).toBeGreaterThanOrEqual(least);
    expect(members.filter((each) => !each.isDocumented)).toEqual([]);
  });

  test('at every option of the construct, with the default if it has one', () => {
    const fields =
      source('infra/config-schema.ts').split('const instanceFields = {')[1]?.split('\n};')[0] ?? '';
    const defaulted = [...fields.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(\w+): z\._default/g)];

    expect(defaulted.length).toBeGreaterThan(10);
    expect(defaulted.filter(([, doc]) => !/default/i.test(doc ?? '')).map(([, , name]) => name)).toEqual([]);
  });
});

test('every row type is assignable to a record of unknown values', () => {
  const rows: readonly Record<string, unknown>[] = [
    { id: '1' } satisfies Partial<CalculationRow>,
    {} as Calculation,
    {} as FileRecord,
    {} as Card,
    {} as FunctionExecution,
    {} as Sentiment,
    {} as DataFile,
  ];

  expect(rows).toHaveLength(7);
});
