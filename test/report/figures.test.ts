import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flagMeanings } from '../../lib/model/flags.ts';
import { calculationFlags, cardFlags, type ReportFacts } from '../../lib/report/facts.ts';
import { figuresOf } from '../../lib/report/figures.ts';
import type { Place } from '../../lib/snapshot/keys.ts';
import { type NaiveModel, type NaiveStore, naiveModel } from '../model/naive.ts';
import { anyStore, craftedStore, lineOf } from '../model/stores.ts';
import { publishLines, wednesday } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { collect, given } from './collect/collect.ts';

/** The report over a store whose narrowed sources are published in places of their own. */
async function reportOf({ calculations, cards, files, dataFiles, narrowed = [] }: NaiveStore) {
  const store = createMemoryStore();
  const sources = { calculations, cards, files, 'data-files': dataFiles };
  for (const [source, records] of Object.entries(sources)) {
    if (records === undefined) continue;
    const place = (narrowed.some((each) => each === source) ? `${source}.some` : source) as Place;
    const selection = source === 'cards' ? { datasets: 'calculations', drill: true } : {};
    await publishLines(store, { place, run: wednesday, lines: records.map(lineOf), manifest: { selection } });
  }
  return { store, facts: await collect(store) };
}

/** How many rows of a list have a flag. */
const rowsWith = (listed: ReportFacts['calculations'] | ReportFacts['cards'], bit: number) =>
  given(listed).list.columns.flags.filter((flags) => (flags & bit) !== 0).length;

const naiveNames = {
  broken_links: 'brokenLinks',
  invalid: 'invalid',
  missing_target: 'missingTarget',
  affected: 'affected',
  unused: 'unused',
  same_name: 'sameName',
  same_links: 'sameLinks',
} as const satisfies Record<string, keyof NaiveModel>;

const idsOf = (things: ReadonlySet<string>, kind: string): readonly string[] =>
  [...things].flatMap((thing) => (thing.startsWith(`${kind} `) ? thing.slice(kind.length + 1) : [])).sort();

function expectFlags(facts: ReportFacts, naive: NaiveModel): void {
  const figures = figuresOf(facts);
  for (const [flag, name] of Object.entries(naiveNames) as [keyof typeof naiveNames, keyof NaiveModel][]) {
    const things = naive[name] as ReadonlySet<string>;
    if (facts.calculations !== undefined) {
      const { count, ids } = given(figures.calculations ?? undefined)[flag];
      const held = idsOf(things, 'calculation').filter((id) => naive.held.has(`calculation ${id}`));
      expect({ [flag]: ids.toSorted() }).toEqual({ [flag]: held });
      expect([count, rowsWith(facts.calculations, calculationFlags[flag])]).toEqual([
        held.length,
        held.length,
      ]);
    }
    if (facts.cards === undefined || (flag !== 'missing_target' && flag !== 'affected')) continue;
    const { count, ids } = given(figures.cards ?? undefined)[flag];
    const held = idsOf(things, 'card').filter((id) => naive.held.has(`card ${id}`));
    expect({ [flag]: ids.toSorted() }).toEqual({ [flag]: held });
    expect([count, rowsWith(facts.cards, cardFlags[flag])]).toEqual([held.length, held.length]);
  }
}

async function expectNaive(store: NaiveStore): Promise<void> {
  const { facts } = await reportOf(store);
  const naive = naiveModel(store);
  const figures = figuresOf(facts);

  expect(facts.faults).toEqual([]);
  expect(figures.calculations?.total).toBe(store.calculations && idsOf(naive.held, 'calculation').length);
  expect(figures.cards?.total).toBe(store.cards && idsOf(naive.held, 'card').length);
  expectFlags(facts, naive);
  expect(
    new Map(
      figures.datasets.map(({ dataset_id, cards, calculations, broken_links }) => [
        `dataset ${dataset_id}`,
        { cards, calculations, brokenLinks: broken_links },
      ]),
    ),
  ).toEqual(naive.datasets);
  expect(
    new Map(
      figures.owners.map(({ user_id, ...owner }) => [
        user_id,
        {
          ...{ calculations: owner.calculations, cards: owner.cards, files: owner.files },
          ...{ dataFiles: owner.data_files, brokenLinks: owner.broken_links, invalid: owner.invalid },
          ...{ missingTarget: owner.missing_target, affected: owner.affected, unused: owner.unused },
          ...{ locked: owner.locked, oldest: owner.oldest_modified, name: owner.name },
        },
      ]),
    ),
  ).toEqual(naive.owners);
}

describe('the figures of the report, and the lists behind them, equal a naive computation', () => {
  test('of every shape that a link may have', () => expectNaive(craftedStore));

  test('where a source is narrowed, or nothing of it is published', async () => {
    await expectNaive({ ...craftedStore, narrowed: ['calculations', 'cards'] });
    await expectNaive({ ...craftedStore, cards: undefined });
    await expectNaive({ cards: craftedStore.cards });
  });

  test('of any small store', async () => {
    await fc.assert(fc.asyncProperty(anyStore, expectNaive), { numRuns: 40 });
  });
});

test('the docs say of each flag what the page says', () => {
  const docs = readFileSync('docs/report.md', 'utf8');

  for (const meaning of Object.values(flagMeanings)) expect(docs).toContain(`| ${meaning} |`);
});

test('without a whole run, all narrowed places are shown, and the report says so', async () => {
  const store = createMemoryStore();
  await publishLines(store, { place: 'calculations.a', run: wednesday, lines: ['{"id":1}'] });
  await publishLines(store, { place: 'calculations.b', run: wednesday, lines: ['{"id":2}', '{"id":"001"}'] });

  const facts = await collect(store);

  expect(facts.calculations?.list.columns.id).toEqual(['1', '2']);
  expect(facts.narrowed).toEqual([{ source: 'calculations', places: ['calculations.a', 'calculations.b'] }]);
});
