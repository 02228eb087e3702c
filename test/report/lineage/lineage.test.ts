import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { storeFormula } from '../../../lib/model/formulas/formula-log.ts';
import { lineageOf } from '../../../lib/report/lineage/lineage.ts';
import type { Store } from '../../../lib/store/store.ts';
import { type NaiveStore, naiveModel } from '../../model/naive.ts';
import { publishStore } from '../../model/publish-store.ts';
import { anyStore, craftedStore, link } from '../../model/stores.ts';
import { scaled } from '../../scale.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

type LineageFormat = Parameters<typeof lineageOf>[0]['format'];

async function linesOf(store: Store, format: LineageFormat = 'openlineage'): Promise<readonly string[]> {
  return Array.fromAsync((await lineageOf({ store, format }))?.lines() ?? []);
}

// biome-ignore lint/suspicious/noExplicitAny: members of an external format
const parsed = (lines: readonly string[]): readonly any[] => lines.map((line) => JSON.parse(line));
const eventsOf = async (store: Store) => parsed(await linesOf(store));
const aspectsOf = async (store: Store) => JSON.parse((await linesOf(store, 'datahub')).join('\n'));

const ODD = 'Net "sales"\n\u202eüber\u0007, (EUR)';

const small: NaiveStore = {
  calculations: [
    { id: 7, name: ODD, owner: 5, links: [link('DATA_SOURCE', 'D-1'), link('CARD', '31:1')] },
    { id: '008', owner: '05', functionTemplateDependencies: ['7', 404, 8] },
    { id: 9007199254740993n, name: '', links: [link('CARD', '99'), link('PAGE', '1')] },
  ],
  cards: [
    {
      ...{ id: 31, title: 'Sales', datasourceId: 'D-1', ownerId: '5' },
      owners: [{ id: 6, type: 'USER', displayName: 'Ada' }],
    },
  ],
};

async function smallStore(as: 'lines' | 'parquet' = 'lines') {
  const store = await publishStore(small, as);
  const expression = 'SUM(`Net, (EUR)`) / COUNT(`Größe`)';
  await storeFormula(store, {
    calculationId: '7',
    finishedAtMs: 1_800_000_000_000,
    expression,
    response: '{}',
  });
  return store;
}

const NAMESPACE = 'platform-sync://acme.example.com';

describe('events of OpenLineage', () => {
  test('represent a calculation as a job that reads datasets and calculations and writes one, with owners', async () => {
    const [seven, eight] = await eventsOf(await smallStore());

    expect(seven).toMatchObject({
      eventType: 'COMPLETE',
      eventTime: '2026-11-16T09:00:00.000Z',
      run: { runId: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/) },
      job: {
        namespace: NAMESPACE,
        name: 'calculation/7',
        facets: {
          documentation: { description: ODD },
          ownership: { owners: [{ name: 'user:5', type: 'OWNER' }] },
        },
      },
      inputs: [{ namespace: NAMESPACE, name: 'dataset/d-1' }],
    });
    expect(seven.outputs).toMatchObject([{ namespace: NAMESPACE, name: 'calculation/7' }]);
    // A record that is missing in a complete snapshot is still an input.
    expect(eight.inputs.map(({ name }: { readonly name: string }) => name)).toEqual([
      'calculation/404',
      'calculation/7',
    ]);
    expect(eight.job.facets.ownership.owners).toEqual([{ name: 'user:5', type: 'OWNER' }]);
    expect(eight.job.facets).not.toHaveProperty('documentation');
  });

  test('include the columns that a known formula reads', async () => {
    const [seven, eight] = await eventsOf(await smallStore());

    const field = (name: string) => ({ namespace: NAMESPACE, name: 'dataset/d-1', field: name });
    expect(seven.outputs[0].facets.columnLineage.fields).toEqual({
      value: { inputFields: [field('größe'), field('net, (eur)')] },
    });
    expect(eight.outputs[0].facets).not.toHaveProperty('columnLineage');
  });

  test('represent a card as a job that only reads, with its owners, and leave out deleted cards', async () => {
    const events = await eventsOf(await smallStore());

    const cards = events.filter(({ job }) => job.name.startsWith('card/'));
    expect(cards).toMatchObject([
      {
        job: {
          name: 'card/31',
          facets: {
            documentation: { description: 'Sales' },
            ownership: { owners: [{ name: 'user:5' }, { name: 'user:6' }] },
          },
        },
        inputs: [{ name: 'calculation/7' }, { name: 'dataset/d-1' }],
        outputs: [],
      },
    ]);
  });

  test('include cards that only calculations name, unless a whole snapshot of cards shows that they are deleted', async () => {
    const events = await eventsOf(await publishStore({ calculations: small.calculations }, 'lines'));

    expect(events.map(({ job }) => job.name)).toEqual([
      ...['calculation/7', 'calculation/8', 'calculation/9007199254740993'],
      ...['card/31', 'card/99'],
    ]);
  });
});

test('the DataHub file has calculations as datasets, cards as charts, and owners', async () => {
  const aspects = await aspectsOf(await smallStore());

  const of = (urn: string) =>
    Object.fromEntries(
      aspects
        .filter(({ entityUrn }: { readonly entityUrn: string }) => entityUrn === urn)
        // biome-ignore lint/suspicious/noExplicitAny: members of an external format
        .map(({ aspectName, aspect }: any) => [aspectName, aspect.json]),
    );
  const urn = (name: string) =>
    `urn:li:dataset:(urn:li:dataPlatform:platform-sync,acme.example.com/${name},PROD)`;
  expect(of(urn('dataset/d-1'))).toEqual({ subTypes: { typeNames: ['Dataset'] } });
  expect(of('urn:li:corpuser:6')).toEqual({ corpUserInfo: { active: true, displayName: 'Ada' } });
  expect(of(urn('calculation/7'))).toMatchObject({
    datasetProperties: { name: ODD },
    subTypes: { typeNames: ['Calculation'] },
    ownership: { owners: [{ owner: 'urn:li:corpuser:5', type: 'BUSINESS_OWNER' }] },
    upstreamLineage: {
      upstreams: [{ dataset: urn('dataset/d-1'), type: 'TRANSFORMED' }],
      fineGrainedLineages: [
        {
          upstreams: [
            `urn:li:schemaField:(${urn('dataset/d-1')},größe)`,
            `urn:li:schemaField:(${urn('dataset/d-1')},net%2C %28eur%29)`,
          ],
          downstreams: [`urn:li:schemaField:(${urn('calculation/7')},value)`],
        },
      ],
    },
  });
  expect(of(urn('calculation/9007199254740993'))).toMatchObject({
    datasetProperties: { name: '9007199254740993' },
  });
  expect(of('urn:li:chart:(platform-sync,acme.example.com/card/31)')).toMatchObject({
    chartInfo: {
      title: 'Sales',
      inputEdges: [{ destinationUrn: urn('calculation/7') }, { destinationUrn: urn('dataset/d-1') }],
    },
    ownership: { owners: [{ owner: 'urn:li:corpuser:5' }, { owner: 'urn:li:corpuser:6' }] },
  });
});

test.each(['openlineage', 'datahub'] as const)(
  'a store always yields the same lineage: %s',
  async (format) => {
    const store = await smallStore();

    const first = await linesOf(store, format);
    const again = await linesOf(store, format);
    for (const key of store.objects.keys()) if (key.startsWith('model/')) store.objects.delete(key);
    const computed = await linesOf(store, format);
    const fromParquet = await linesOf(await smallStore('parquet'), format);

    expect(first.length).toBeGreaterThan(3);
    for (const other of [again, computed, fromParquet]) expect(other).toEqual(first);
  },
);

test('no two events of the lineage have the same run id', async () => {
  const events = await eventsOf(await smallStore());

  expect(new Set(events.map(({ run }) => run.runId)).size).toBe(events.length);
});

test('if nothing is published, there is no lineage', async () => {
  expect(await lineageOf({ store: createMemoryStore(), format: 'datahub' })).toBeUndefined();
});

/** Asserts that the inputs are all uses of datasets and calculations that a naive search finds, by existing records. */
async function isAsNaive(given: NaiveStore): Promise<void> {
  const { uses, held } = naiveModel(given);
  const isWhole = (source: 'calculations' | 'cards') =>
    given[source] !== undefined && given.narrowed?.includes(source) !== true;
  const isGone = (thing: string) =>
    !held.has(thing) &&
    ((thing.startsWith('calculation ') && isWhole('calculations')) ||
      (thing.startsWith('card ') && isWhole('cards')));
  const expected = uses
    .filter(({ user, used }) => user !== used && /^(?:dataset|calculation) /.test(used) && !isGone(user))
    .map(({ user, used }) => `${user} < ${used}`);

  const events = await eventsOf(await publishStore(given, 'lines'));

  const found = events.flatMap(({ job, inputs }) =>
    inputs.map((input: { readonly name: string }) =>
      `${job.name} < ${input.name}`.replaceAll(/(?<=^|< )(\w+)\//g, '$1 '),
    ),
  );
  expect(found.toSorted()).toEqual(expected.toSorted());
}

test('the inputs of a calculation in the lineage equal those that a naive search finds, for any shape of links', async () => {
  await isAsNaive(craftedStore);
  await fc.assert(fc.asyncProperty(anyStore, isAsNaive), { numRuns: scaled(20, 1_000) });
});
