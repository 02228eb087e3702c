import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brokenFlags } from '../../../lib/model/rules/index.ts';
import { collectDigest } from '../../../lib/report/digest/digest.ts';
import { publishedRuns } from '../../../lib/snapshot/manifest.ts';
import { type NaiveStore, naiveModel } from '../../model/naive.ts';
import { anyStore, craftedStore, lineOf } from '../../model/stores.ts';
import { monday, publishLines, tuesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

/** A run of cards with this selection has the cards of all datasets that calculations use. */
const WHOLE = { selection: { datasets: 'calculations' } };

type Source = 'calculations' | 'cards';

const names = {
  broken_links: 'brokenLinks',
  invalid: 'invalid',
  missing_target: 'missingTarget',
  affected: 'affected',
} as const;

/** The digest of a run of a source against another one, over the last run of the other source. */
async function digestOf(source: Source, before: NaiveStore, after: NaiveStore) {
  const store = createMemoryStore();
  const other = source === 'cards' ? 'calculations' : 'cards';
  const others = after[other];
  const linesOf = (given: NaiveStore) => (given[source] ?? []).map(lineOf);
  if (others !== undefined)
    await publishLines(store, { place: other, run: monday, lines: others.map(lineOf), manifest: WHOLE });
  await publishLines(store, { place: source, run: monday, lines: linesOf(before), manifest: WHOLE });
  const changes = { against: monday.id, added: 0, removed: 0, changed: 0, key: 'changes/none' };
  await publishLines(store, {
    place: source,
    run: tuesday,
    lines: linesOf(after),
    manifest: { ...WHOLE, changes },
  });
  const [run] = await publishedRuns(store, source);
  if (run === undefined) throw new Error('expected a run');
  return collectDigest({ store, place: source, run: run.run });
}

/** Asserts that the digest has, for each flag, the difference between naive models of both moments. */
async function expectNaive(source: Source, given: NaiveStore, later: NaiveStore): Promise<void> {
  const after = { ...later, narrowed: [], [source]: later[source] ?? [] };
  const [was, is] = [naiveModel({ ...after, [source]: given[source] ?? [] }), naiveModel(after)];

  const { broken } = await digestOf(source, given, after);

  for (const flag of brokenFlags) {
    const had = [...was[names[flag]]].filter((own) => was.held.has(own));
    const has = [...is[names[flag]]].filter((own) => is.held.has(own));
    const newly = has.filter((own) => !had.includes(own));
    const listed = broken?.[flag].newly?.items.map(([line = '']) => thingIn(line));

    expect({
      flag,
      total: (broken?.[flag].calculations ?? 0) + (broken?.[flag].cards ?? 0),
      newly: broken?.[flag].newly?.total,
    }).toEqual({
      flag,
      total: has.length,
      newly: newly.length,
    });
    expect(listed).toHaveLength(Math.min(6, newly.length));
    expect(newly).toEqual(expect.arrayContaining(listed ?? []));
  }
}

/** Shortens `calculation Name (7)` to `calculation 7`. */
const thingIn = (line: string): string => line.replace(/^(\S+) .*\(([^()]*)\)(?:, of .*)?$/, '$1 $2');

test('the newly broken records in a digest are the difference of the models of both runs, for any shape of links', async () => {
  const without = (id: unknown) => ({
    ...craftedStore,
    calculations: craftedStore.calculations?.filter((each) => (each as { id?: unknown })?.id !== id),
  });

  await expectNaive('calculations', { calculations: [] }, craftedStore);
  await expectNaive('calculations', craftedStore, without(1));
  await expectNaive('calculations', without(15), craftedStore);
  await expectNaive('cards', { cards: [] }, craftedStore);
});

test('the newly broken records in a digest are the difference of the models of both runs, for any two stores', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('calculations', 'cards'), anyStore, anyStore, expectNaive),
    { numRuns: 20 },
  );
});

test('a removed calculation breaks its users in the digest, and affects what depends on them', async () => {
  const used = { id: 1, name: 'Revenue' };
  const user = { id: 2, name: 'Margin', functionTemplateDependencies: ['1'] };
  const dependent = { id: 3, name: 'Ratio', functionTemplateDependencies: ['2'] };

  const { broken } = await digestOf(
    'calculations',
    { calculations: [used, user, dependent] },
    { calculations: [user, dependent] },
  );

  expect(broken).toMatchObject({
    broken_links: { calculations: 0, cards: 0, newly: { total: 0, items: [] } },
    missing_target: {
      newly: { items: [['calculation Margin (2)', '  refers to calculation 1, which no snapshot contains']] },
    },
    affected: { newly: { items: [['calculation Ratio (3)']] } },
  });
});
