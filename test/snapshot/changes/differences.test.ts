import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalExact, parseExact } from '../../../lib/base/json/json.ts';
import { collectChanges } from '../../../lib/snapshot/changes/change.ts';
import { compareRuns } from '../../../lib/snapshot/changes/changes-between.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import type { Source } from '../../../lib/snapshot/sources/sources.ts';
import { scaled } from '../../scale.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { storeRun } from './stored-run.ts';

/*
 * Generated runs with keys in any order, odd keys, nested values, numbers in every notation, members in any order and
 * with white space, and escaped names. Every way of comparing them must find the same changes as a comparison of two
 * maps.
 */

const store = storeOfEach();

const number = fc.constantFrom(
  '0',
  '-0',
  '1',
  '1.0',
  '1e0',
  '9007199254740993',
  '9007199254740993.0',
  '0.10',
  '0.1',
  '1e400',
);
const text = fc.constantFrom('"a"', '"\\u0061"', '"ä\\"\\\\"', '"}{,:"', '""', '"line\\nfeed"');
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    number,
    text,
    fc.constantFrom('null', 'true', '[]', '{}'),
    fc.array(tie('value'), { maxLength: 3 }).map((parts) => `[ ${parts.join(' ,')}]`),
    tie('value').map((part) => `{"x": ${part},"downloadUrl":1}`),
  ),
}));
const fields = fc.dictionary(
  fc.constantFrom('name', 'na\\u006de', 'size', 'downloadUrl', 'functions', 'ä'),
  value,
  { maxKeys: 4 },
);
const fileKey = fc.constantFrom(
  'a',
  'b',
  'a/b',
  '/',
  'Ä"\\',
  '\\u0061',
  'id',
  '0',
  '💡',
  '{"_filesetId":"s","id":"',
);

type Records = ReadonlyMap<string, string>;

/** The line of a record, with the members of its key first or last. */
function print(key: string, own: Readonly<Record<string, string>>, isFirst: boolean): string {
  const members = Object.entries(own).map(([name, part]) => `"${name}":${part}`);
  return `{${(isFirst ? [key, ...members] : [...members, key]).join(', ')}}`;
}

const files = fc.uniqueArray(fc.tuple(fileKey, fields, fc.boolean()), {
  selector: ([id]) => JSON.parse(`"${escaped(id)}"`),
  maxLength: 8,
});

/** An id as it is written in JSON. An id that contains an escape is left as it is. */
const escaped = (id: string) => (id.includes('\\u') ? id : JSON.stringify(id).slice(1, -1));

type Files = readonly (readonly [string, Readonly<Record<string, string>>, boolean])[];

const fileLines = (records: Files): Records =>
  new Map(
    records.map(([id, own, isFirst]) => [
      `s/${JSON.parse(`"${escaped(id)}"`)}`,
      print(`"_filesetId":"s","id":"${escaped(id)}"`, own, isFirst),
    ]),
  );

/** The changes, found with two maps in memory. */
function naive(before: Records, after: Records): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    if (old === undefined) return [`added ${key} ${now}`];
    if (now === undefined) return [`removed ${key} ${old}`];
    const [was, is] = [canonicalFields(old), canonicalFields(now)];
    const names = [...new Set([...was.keys(), ...is.keys()])].filter(
      (name) => was.get(name) !== is.get(name),
    );
    return names.length === 0 ? [] : [`changed ${key} ${old} ${now} ${names.sort()}`];
  });
}

function canonicalFields(line: string): ReadonlyMap<string, string> {
  const record = parseExact(line) as Record<string, unknown>;
  const { downloadUrl: _, ...rest } = record;
  return new Map(Object.entries(rest).map(([name, part]) => [name, canonicalExact(part)]));
}

const printed = (changes: readonly object[]): readonly string[] =>
  changes
    .map((each) => {
      const { change, key, before, after, fields: names } = each as Record<string, unknown>;
      return [change, key, before, after, (names as string[] | undefined)?.length ? names : undefined]
        .filter((part) => part !== undefined)
        .join(' ');
    })
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

const keyOf = (line: string) => /^\S+ (.*?) \{/s.exec(line)?.[1] ?? '';

type Ways = {
  readonly source: Source;
  readonly before: readonly Part[];
  readonly after: readonly Part[];
  readonly memoryBytes?: number;
};

/** The changes as found with ample memory and with little. */
async function everyWay({ source, before, after, memoryBytes: little = 1_000 }: Ways) {
  const found: (readonly string[])[] = [];
  for (const memoryBytes of [64_000_000, little]) {
    const runs = { store, source, before: { parts: before }, after: { parts: after }, memoryBytes };
    found.push(printed((await collectChanges(compareRuns(runs), 1_000)).changes));
  }
  return found;
}

const memory = fc.integer({ min: 600, max: 5_000 });

test('files in any order, however they are compared, have the same changes as a comparison of two maps', async () => {
  await fc.assert(
    // The smallest memory is one in which a record fits. With less, every bucket is read once for each half of its
    // keys.
    fc.asyncProperty(
      files,
      files,
      fc.integer({ min: 1, max: 4 }),
      memory,
      async (old, now, partRecords, memoryBytes) => {
        const [before, after] = [fileLines(old), fileLines(now)];
        const stored = await storeRun(store, 'old', [...before.values()], { partRecords });
        const storedNow = await storeRun(store, 'new', [...after.values()], {
          partRecords,
          compression: 'zstd',
        });

        const runs = { before: stored.parts, after: storedNow.parts };
        const ways = await everyWay({ source: 'files', ...runs, memoryBytes });

        const expected = [...naive(before, after)].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
        for (const found of ways) expect(found).toEqual(expected);
      },
    ),
    { numRuns: scaled(8, 250) },
  );
});

test('calculations in key order, in parts with known keys, have the same changes as a comparison of two maps', async () => {
  const id = fc.oneof(fc.bigInt(0n, 40n), fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n));
  const calculations = fc
    .uniqueArray(fc.tuple(id, value, fc.boolean()), { selector: ([each]) => each, maxLength: 20 })
    .map((records) => [...records].sort(([a], [b]) => (a < b ? -1 : 1)));
  const linesOf = (records: readonly (readonly [bigint, string, boolean])[]): Records =>
    new Map(records.map(([key, own, isFirst]) => [`${key}`, print(`"id":${key}`, { name: own }, isFirst)]));
  const withKeys = (parts: readonly Part[], keys: readonly string[], partRecords: number) =>
    parts.map((part, at) => {
      const own = keys.slice(at * partRecords, (at + 1) * partRecords);
      return { ...part, firstKey: own[0] ?? '', lastKey: own.at(-1) ?? '' };
    });

  await fc.assert(
    fc.asyncProperty(calculations, calculations, fc.integer({ min: 1, max: 5 }), async (old, now, size) => {
      const [before, after] = [linesOf(old), linesOf(now)];
      const stored = await storeRun(store, 'old', [...before.values()], { partRecords: size });
      const storedNow = await storeRun(store, 'new', [...after.values()], { partRecords: size });

      const ways = await everyWay({
        source: 'calculations',
        before: withKeys(stored.parts, [...before.keys()], size),
        after: withKeys(storedNow.parts, [...after.keys()], size),
      });

      const expected = [...naive(before, after)].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      for (const found of ways) expect(found).toEqual(expected);
    }),
    { numRuns: scaled(8, 250) },
  );
});
