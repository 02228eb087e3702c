import { expect, test } from 'vitest';
import { cardFlags } from '../../../lib/report/facts.ts';
import { collect, given, storeOf } from './collect.ts';

const CARDS = [
  { id: 1, datasourceId: 'a', ownerId: 7, owners: [{ id: '7', displayName: 'Ada' }], type: 'kpi' },
  { id: 2, datasourceId: 'a', ownerId: 7, owners: [{ id: '8', displayName: 'Team' }], access: false },
  { _datasetId: 'b', id: 2, datasourceId: 'a', ownerId: 7 },
  { id: 3, owners: 'nobody' },
];

test('a card in the lists of two datasets is counted once, as built on both', async () => {
  const { cards, datasets, graph } = await collect(await storeOf({ cards: CARDS }));

  expect(given(cards)).toMatchObject({ total: 3, flags: { without_access: 1 } });
  expect(cards?.list.columns).toMatchObject({ id: ['1', '2', '3'], flags: [0, cardFlags.without_access, 0] });
  expect(datasets?.list.columns).toMatchObject({ id: ['a', 'b'], cards: [2, 1] });
  expect(graph).toMatchObject({ user: [2, 3, 3], used: [0, 0, 1] });
});

test('a card has all owners that its record names, and each owner has its name', async () => {
  const { cards, owners } = await collect(await storeOf({ cards: CARDS }));

  expect(given(cards).list.columns.owner).toEqual([['7'], ['7', '8'], []]);
  expect(given(owners).list.columns).toMatchObject({ id: ['7', '8'], name: ['Ada', 'Team'], cards: [2, 1] });
});

test('a long list of cards is shortened, and links to omitted cards are left out', async () => {
  const link = (id: string) => ({ resource: { type: 'CARD', id }, valid: 'VALID' });
  const store = await storeOf({
    cards: CARDS,
    calculations: [{ id: 1, links: [link('1:0'), link('3:0'), link('99:0')] }],
  });

  const { cards, graph } = await collect(store, { whole: 2, top: 1 });

  expect(given(cards).list).toMatchObject({ total: 3, isWhole: false, columns: { id: ['1', '2'] } });
  expect(graph).toMatchObject({ others: [{ kind: 'card', id: '99' }] });
  expect(graph.user).toEqual([3, 5, 3, 4, 4]);
  expect(graph.used).toEqual([2, 2, 0, 0, 1]);
});
