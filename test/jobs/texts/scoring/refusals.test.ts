import { expect, test } from 'vitest';
import {
  createRefusals,
  createRefusalsOf,
  type Refusals,
} from '../../../../lib/jobs/texts/scoring/refusals.ts';

/** How many of so many different texts are refused until it is one too many; undefined if all of them can be. */
function mostOf(refusals: Refusals, texts = 1_000): number | undefined {
  for (let count = 1; count <= texts; count += 1) if (refusals.refused(`text ${count}`)) return count;
  return undefined;
}

test('ten different texts in a row stop a request that has scored nothing', () => {
  expect(mostOf(createRefusals())).toBe(10);
});

test.each(['succeeded', 'hasScored'] as const)(
  'a hundred stop one that has (%s), and then ten again',
  (event) => {
    const refusals = createRefusals();
    refusals[event]();

    expect([mostOf(refusals), mostOf(refusals)]).toEqual([100, 10]);
  },
);

test('a success ends the row; a result of the cache does not: it says nothing about now', () => {
  const [succeeded, hasScored] = [createRefusals(), createRefusals()];
  for (const each of [succeeded, hasScored]) expect(mostOf(each, 9)).toBeUndefined();

  succeeded.succeeded();
  hasScored.hasScored();

  expect(mostOf(succeeded, 99)).toBeUndefined();
  for (let at = 0; at < 90; at += 1) hasScored.refused(`other ${at}`);
  expect(hasScored.refused('the hundredth')).toBe(true);
});

test('one text that is refused again and again is one text', () => {
  const refusals = createRefusals();

  expect(Array.from({ length: 500 }, () => refusals.refused('n/a'))).not.toContain(true);
});

test('requests are counted apart, and equal ones together', () => {
  const refusalsOf = createRefusalsOf();
  refusalsOf({ model: 'good', instructions: 'brief' }).succeeded();

  expect(mostOf(refusalsOf({ instructions: 'brief', model: 'good' }))).toBe(100);
  expect(mostOf(refusalsOf({ model: 'wrong' }))).toBe(10);
});

test('a request that is in use is remembered, however many others come', () => {
  const refusalsOf = createRefusalsOf();
  refusalsOf({ model: 'good' }).succeeded();
  for (let at = 0; at < 300; at += 1) {
    refusalsOf({ model: `other ${at}` });
    refusalsOf({ model: 'good' });
  }

  expect(mostOf(refusalsOf({ model: 'good' }))).toBe(100);
});
