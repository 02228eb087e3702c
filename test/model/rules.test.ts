import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalId,
  datasetsUsed,
  forEachUse,
  type LinkSource,
} from '../../lib/model/rules/record-rules.ts';
import { createUsesCollector, graphIn, thingsIn } from '../../lib/model/uses-graph.ts';
import { type NaiveStore, type NaiveUse, naiveId, naiveUsesOf } from './naive.ts';
import { anyStore, craftedStore, link } from './stores.ts';

const asLine = (use: NaiveUse) =>
  `${use.user} ${use.relation} ${use.used}${use.validity === null ? '' : ` (${use.validity})`}`;

/** The uses that a record states, each pair once, as text. */
function linesOf(source: LinkSource, record: unknown) {
  const collector = createUsesCollector();
  forEachUse(source, record, collector.add);
  const uses = collector.pack();
  const [graph, { thingAt }] = [graphIn(uses), thingsIn(uses.things)];
  const nameAt = (node = 0) => Object.values(thingAt(node)).join(' ');
  return Array.from(graph.user, (user, edge) =>
    asLine({
      user: nameAt(user),
      used: nameAt(graph.used[edge]),
      relation: graph.relationAt(edge),
      validity: graph.validityAt(edge),
      by: '',
    }),
  );
}

function expectNaive({ calculations = [], cards = [] }: NaiveStore): void {
  for (const [source, records] of [
    ['calculations', calculations],
    ['cards', cards],
  ] as const)
    for (const record of records)
      expect(linesOf(source, record)).toEqual(naiveUsesOf(source, record).map(asLine));
}

describe('an id', () => {
  test('is its digits, or a word in lower case', () => {
    const ids = [7, 7n, '7', '0007', ' 7 ', '-007', '-0', '000', 'Ab', '', ' ', 1.5, 2 ** 53, null, true, {}];

    expect(ids.map(canonicalId)).toEqual([
      ...['7', '7', '7', '7', '7', '-7', '0', '0', 'ab'],
      ...[undefined, undefined, undefined, undefined, undefined, undefined, undefined],
    ]);
  });

  test('is the same for the same value, at any size and in any form', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.nat(80), (value, zeros) => {
        const text = `${value < 0n ? '-' : ''}${'0'.repeat(zeros)}${value < 0n ? -value : value}`;
        expect(canonicalId(text)).toBe(String(value));
        expect(canonicalId(text)).toBe(naiveId(value));
      }),
    );
  });
});

describe('the uses of a record', () => {
  test('are those that a naive reading finds, in every shape', () => expectNaive(craftedStore));

  test('are those that a naive reading finds in any record', () => {
    fc.assert(fc.property(anyStore, expectNaive));
  });
});

test('cards are fetched for the datasets of links and active links', () => {
  const links = [link('DATA_SOURCE', 'D-1'), link('data_source', 'd-1'), link('CARD', '31'), null];

  expect(datasetsUsed({ links, activeLinks: { DATA_SOURCE: ['D-2', 'd-1'] } })).toEqual([
    { id: 'D-1', isGone: false },
    { id: 'D-2', isGone: false },
  ]);
  expect(datasetsUsed(null)).toEqual([]);
});

test.each([
  ['every link to it is an illegal reference', ['ILLEGAL_REFERENCE', 'illegal_reference'], [], true],
  ['one link to it is valid', ['ILLEGAL_REFERENCE', 'VALID'], [], false],
  ['one link to it is broken in another way', ['INCOMPATIBLE_LINK', 'ILLEGAL_REFERENCE'], [], false],
  ['its only link has no status', [undefined], [], false],
  ['it is only in the active links', [], ['d-1'], false],
  ['it is also in the active links, which have no status', ['ILLEGAL_REFERENCE'], ['D-1'], true],
])('a dataset that a calculation links to counts as deleted or not: %s', (_, valid, active, isGone) => {
  const links = valid.map((each) => ({ resource: { type: 'DATA_SOURCE', id: 'd-1' }, valid: each }));

  const [used] = datasetsUsed({ id: 1, links, activeLinks: { DATA_SOURCE: active } });

  expect(used?.isGone).toBe(isGone);
});
