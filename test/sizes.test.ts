import { expect, test } from 'vitest';
import { aroundIn, earlierIn, faultsIn, lowered, measure, readBounds, repeatedExports } from './sizes.ts';

test('nothing is larger than its bound, and each bound follows what got smaller', () => {
  expect(faultsIn(measure(), readBounds())).toEqual([]);
});

test('what is too large, what is new and what fell is named with its bound and what to do', () => {
  const bounds = { 'lib/store: lines': 1_950, 'lib/table: lines': 1_000, 'docs/old.md: words': 1_600 };
  const sizes = { 'lib/store: lines': 1_951, 'lib/table: lines': 979, 'docs/new.md: words': 1_501 };

  expect(faultsIn(sizes, bounds)).toEqual([
    expect.stringMatching(/^lib\/store: lines: 1951, bound 1950 \(goal 1900\): make it smaller, or/),
    'lib/table: lines: 979, bound 1000 (goal 1100): lower the bound by npm run sizes -- --write',
    expect.stringMatching(/^docs\/new.md: words: 1501, bound 0: make it smaller, or/),
    'docs/old.md: words: 0, bound 1600: lower the bound by npm run sizes -- --write',
  ]);
  expect(faultsIn({ 'lib/table: lines': 985 }, { 'lib/table: lines': 1_000 })).toEqual([]);
});

test('bounds only fall, but for those that are named', () => {
  const bounds = { a: 10, b: 10, c: 10, gone: 10 };
  const sizes = { a: 9, b: 11, c: 11, fresh: 1 };

  expect(lowered(sizes, bounds, [])).toEqual({ a: 9, b: 10, c: 10 });
  expect(lowered(sizes, bounds, ['b', 'fresh'])).toEqual({ a: 9, b: 11, c: 10, fresh: 1 });
});

test.each([
  ['../store/index.ts', []],
  ['../store/s3.ts', ['store']],
  ['../jobs/queue/index.ts', ['jobs']],
  ['../contract.ts', []],
  ['../base/time/sleep.ts', ['base']],
  ['./terminal.ts', []],
])('an import of %j from lib/cli is of the inside of %j', (of, rooms) => {
  expect(aroundIn('lib/cli/work.ts', `import { a } from '${of}';\nimport pino from 'pino';`)).toEqual(rooms);
});

test('a name that several files export is counted once for each file beyond the first', () => {
  const texts = [
    'export const places = 1;\nexport type Row = {};',
    'export function places() {}\nexport async function readAhead() {}',
    'export type Row = {};\nexport function* places() {}\nconst readAhead = 1;',
  ];

  expect(repeatedExports(texts)).toEqual(['places', 'Row', 'places']);
});

test('words of earlier versions are found', () => {
  expect(
    earlierIn('Formerly a file. It used to be read by legacy code; an older version of an object stays.'),
  ).toEqual(['Formerly', 'used to be', 'legacy']);
});
