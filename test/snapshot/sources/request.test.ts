import { describe, expect, test } from 'vitest';
import { linkedSource, requestRules, requestSchemasWith } from '../../../lib/snapshot/sources/request.ts';
import { sourceDefinitions, sources } from '../../../lib/snapshot/sources/sources.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';
const OTHER = '1c9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c22';

const bounded = requestSchemasWith({});
const unbounded = requestSchemasWith({}, 'unboundedFields');

describe('the dates of files', () => {
  const since = (text: string) =>
    bounded.files.safeParse({ source: 'files', filesets: [FILESET], since: text });

  test.each([
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T09:15Z', '2026-11-21T09:15:00.000Z'],
    ['2026-11-21T09:15:30.25+02:00', '2026-11-21T07:15:30.250Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('%s means %s', (text, time) => {
    expect(since(text).data?.since).toBe(time);
  });

  test.each([
    '',
    'yesterday',
    '21.11.2026',
    '2026-13-01',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '2026-11-21T25:00:00Z',
    '2026-11-21T09:15:00',
    '2026-11-21 (about)',
  ])('cannot be %j, and the error says what was expected', (text) => {
    expect(since(text).error?.issues).toMatchObject([
      { path: ['since'], message: 'a date such as 2026-11-21 or 2026-11-21T09:15:00Z' },
    ]);
  });
});

test('FileSets are in lower case, each once and sorted, however they are given', () => {
  const filesets = [OTHER.toUpperCase(), FILESET, OTHER];

  expect(bounded.files.parse({ source: 'files', filesets }).filesets).toEqual([FILESET, OTHER]);
});

describe('a list', () => {
  const ids = Array.from({ length: 10_001 }, (_, at) => String(at));

  test('in a message has at most the number of entries allowed for messages, each once', () => {
    const faultsOf = (given: readonly string[]) =>
      bounded['data-files'].safeParse({ source: 'data-files', ids: given }).error?.issues;

    expect(faultsOf(ids)).toMatchObject([{ path: ['ids'], message: 'a list of 1 to 10000' }]);
    expect(faultsOf(['7', '07'])).toMatchObject([{ message: 'a list without duplicates' }]);
  });

  test('outside a message may have any length and contain duplicates', () => {
    const request = { source: 'data-files', ids: [...ids, '07'] };

    expect(unbounded['data-files'].parse(request).ids).toEqual([...ids, '7']);
  });
});

test.each([
  [{ source: 'cards' }, 'calculations'],
  [{ source: 'cards', datasets: [FILESET] }, undefined],
  [{ source: 'calculations' }, undefined],
  [{ source: 'data-files' }, undefined],
] as const)('the ids of the request %j are taken from the links of %j', (request, source) => {
  expect(linkedSource(request)).toBe(source);
});

test.each([
  ['calculations', ['as']],
  ['files', ['directory']],
  ['cards', []],
])('a request of %s breaks only the rules of its own source', (source, fields) => {
  const broken = requestRules.filter(({ holds }) => !holds({ source, name: 'x', immediate: true }));

  expect(broken.map(({ at }) => at)).toEqual(fields);
});

describe.each(sources)('the definition of %s', (source) => {
  const { name, options, fields, records, columns, sample } = sourceDefinitions[source];

  test('has its own name', () => {
    expect(name).toBe(source);
  });

  test('has only options for fields of its requests', () => {
    const unknown = options.map(({ field }) => field).filter((field) => !Object.hasOwn(fields, field));

    expect(unknown).toEqual([]);
  });

  test('compares and shows records by their columns', () => {
    const named = [records.key.id, ...(records.key.owner ?? []), records.label, ...records.volatile];

    expect(Object.keys(columns)).toEqual(expect.arrayContaining([...named, ...records.sets]));
  });

  test('has a sample that uses its own options', () => {
    const argv = sample({ filesetIds: [FILESET], datasetIds: ['d'], dataFileIds: ['7'] });

    const flags = options.map((option) => option.flags.split(' ', 1)[0]);
    expect(argv.filter((word) => word.startsWith('--') && !flags.includes(word))).toEqual([]);
  });
});
