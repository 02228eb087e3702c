import { expect, test } from 'vitest';
import { linkedIds } from '../../../lib/snapshot/run/linked-ids.ts';
import { linkedDatasets } from '../../../lib/snapshot/sources/calculations/linked-datasets.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore } from '../changes/memory-store.ts';
import { publishLines, tuesday, wednesday } from '../changes/publish-lines.ts';

const datasetsIn = (store: Store) =>
  linkedIds({ store, from: 'calculations', idsIn: linkedDatasets, field: 'datasets' });

const links = (...resources: readonly unknown[]) =>
  JSON.stringify({ id: 1, links: resources.map((resource) => ({ resource, visible: true })) });

const dataset = (id: string) => ({ type: 'DATA_SOURCE', id });

test('each dataset that a calculation links to is returned once, sorted by id as text', async () => {
  const store = createMemoryStore();
  const lines = [links(dataset('c'), dataset('a')), links(dataset('a')), links(dataset('B'), dataset('10'))];
  await publishLines(store, { run: tuesday, lines });

  const linked = await datasetsIn(store);

  expect(linked).toEqual({ ids: ['10', 'B', 'a', 'c'], run: tuesday.id });
});

test('links to anything else are skipped; the case of the type makes no difference', async () => {
  const store = createMemoryStore();
  const lines = [
    links({ type: 'CARD', id: 'dr:9:1' }, { type: 'data_source', id: 'lower' }),
    links({ type: 'DATA_SOURCE_VIEW', id: 'view' }),
  ];
  await publishLines(store, { run: tuesday, lines });

  const { ids } = await datasetsIn(store);

  expect(ids).toEqual(['lower']);
});

test('calculations without links, and links of another shape, do not hide the others', async () => {
  const store = createMemoryStore();
  const lines = ['{"id":1}', '{"id":2,"links":null}', links(null, { type: 'CARD' }, dataset('found'))];
  await publishLines(store, { run: tuesday, lines });

  const { ids } = await datasetsIn(store);

  expect(ids).toEqual(['found']);
});

test('the ids come from all parts of the last published run', async () => {
  const store = createMemoryStore();
  await publishLines(store, { run: tuesday, lines: [links(dataset('of-tuesday'))] });
  await publishLines(store, { run: wednesday, lines: [links(dataset('of-wednesday'))] });

  const linked = await datasetsIn(store);

  expect(linked).toEqual({ ids: ['of-wednesday'], run: wednesday.id });
});

test('a narrowed snapshot is ignored: without a whole one the error says what is missing', async () => {
  const store = createMemoryStore();
  await publishLines(store, { place: 'calculations.mine', run: tuesday, lines: [links(dataset('a'))] });

  await expect(datasetsIn(store)).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: 'memory: expected a published snapshot of calculations to take datasets from, got none',
  });
});
