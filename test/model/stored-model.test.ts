import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  createUsesBuilder,
  lastRuns,
  openModel,
  renewModel,
  usesKey,
  usesOfPart,
} from '../../lib/model/index.ts';
import type { ModelTable } from '../../lib/model/model-tables.ts';
import { findModel } from '../../lib/model/open-model.ts';
import { storedUses } from '../../lib/model/part-uses.ts';
import { forEachUse } from '../../lib/model/rules/record-rules.ts';
import { createUsesCollector, graphIn, thingsIn } from '../../lib/model/uses-graph.ts';
import { eachLine } from '../../lib/snapshot/changes/line-reader.ts';
import { latestKey, type Place, type Run } from '../../lib/snapshot/keys.ts';
import type { Store } from '../../lib/store/store.ts';
import { monday, publishLines, tuesday } from '../snapshot/changes/publish-lines.ts';
import { storeOfEach } from '../store/store-of-each.ts';
import { link } from './stores.ts';

const store = storeOfEach();

const publish = (place: Place, run: Run, ...records: readonly object[]) =>
  publishLines(store, { place, run, lines: records.map((record) => JSON.stringify(record)) });

async function renew(of: Store = store) {
  await renewModel({
    store: of,
    now: () => Date.parse('2026-11-20T12:00:00Z'),
    addFault: (fault) => {
      throw new Error(fault);
    },
  });
  const { model } = await findModel(of);
  if (model === undefined) throw new Error('expected a stored model, got none');
  return model;
}

const open = () => openModel({ store, now: () => Date.parse('2026-11-20T13:00:00Z') });

/** The keys in a folder, without the history of models, which is never deleted. */
const keysIn = (folder: string) =>
  [...store.objects.keys()]
    .filter((key) => key.startsWith(folder) && !key.startsWith('model/history/'))
    .sort();

type Model = NonNullable<Awaited<ReturnType<typeof findModel>>['model']>;

/** The keys of all objects of a model, except the pointer to it. */
const keysOf = ({ tables, packed }: Model) => [...Object.values(tables ?? {}).map(({ key }) => key), packed];

const revenue = { id: 1, name: 'Revenue', owner: 5, links: [link('DATA_SOURCE', 'd-1')] };
const margin = { id: 2, name: 'Margin', functionTemplateDependencies: ['1'] };

async function rowsOf(table: ModelTable) {
  const { parquetReadObjects } = await import('hyparquet');
  const { zstdDecompressSync } = await import('node:zlib');
  const { model } = await findModel(store);
  const stored = await store.get(model?.tables?.[table].key ?? '');
  const file = new Uint8Array(stored?.body ?? []).buffer;
  const rows = await parquetReadObjects({ file, compressors: { ZSTD: (page) => zstdDecompressSync(page) } });
  return rows;
}

describe('a stored model', () => {
  test('names the runs that it was computed over, and has their flags', async () => {
    await publish('calculations', monday, revenue, margin);
    await publish('cards', monday, { id: 31, datasourceId: 'd-1', ownerId: 5 });

    const model = await renew();

    expect(model).toMatchObject({
      asOf: '2026-11-20T12:00:00.000Z',
      runs: { calculations: { run: monday.id }, cards: { run: monday.id } },
    });
    const asOf = { as_of: BigInt(Date.parse('2026-11-20T12:00:00Z')) };
    const none = { broken_links: false, invalid: false, missing_target: false, affected: false };
    const alone = { same_name: false, same_links: false, same_formula: false };
    const since = (unused_since: bigint | null) => ({ unused_since, broken_since: null });
    const mondayMs = BigInt(Date.parse(monday.startedAt));
    expect(await rowsOf('calculations')).toEqual([
      { record_id: '1', thing_id: '1', ...none, ...alone, unused: false, ...since(null), ...asOf },
      { record_id: '2', thing_id: '2', ...none, ...alone, unused: true, ...since(mondayMs), ...asOf },
    ]);
    expect(await rowsOf('cards')).toEqual([
      {
        ...{ record_id: '31', thing_id: '31', missing_target: false, affected: false },
        ...{ broken_since: null, ...asOf },
      },
    ]);
    expect(await rowsOf('datasets')).toEqual([
      { dataset_id: 'd-1', cards: 1n, calculations: 1n, broken_links: 0n, ...asOf },
    ]);
    expect(await rowsOf('owners')).toMatchObject([{ user_id: '5', calculations: 1n, cards: 1n, unused: 0n }]);
  });

  test('is not computed again until another run is published', async () => {
    await publish('calculations', monday, revenue);
    await publish('cards', monday, { id: 31, datasourceId: 'd-1' });
    const first = await renew();
    const again = await renew();
    await publish('calculations', tuesday, revenue, margin);
    const next = await renew();

    expect(again).toEqual(first);
    expect(next.runs).not.toEqual(first.runs);
    expect(await rowsOf('calculations')).toHaveLength(2);
  });

  test('is computed again once a source is no longer published', async () => {
    await publish('calculations', monday, revenue);
    await publish('cards', monday, { id: 31, datasourceId: 'd-1' });
    await renew();
    await store.delete(latestKey('cards'));

    await renew();

    expect(await rowsOf('cards')).toEqual([]);
  });

  test('keeps the model before it for its readers, and deletes older models', async () => {
    await publish('calculations', monday, revenue);
    await store.put('model/cards/left-by-a-killed-writer.parquet', Buffer.from('PAR1'));
    const first = await renew();
    await publish('calculations', tuesday, revenue, margin);
    const second = await renew();

    expect(keysIn('model/')).toEqual(['model/latest.json', ...keysOf(first), ...keysOf(second)].sort());

    await publish('calculations', monday, revenue);
    const third = await renew();

    expect(keysIn('model/')).toEqual(['model/latest.json', ...keysOf(second), ...keysOf(third)].sort());
  });

  test('gets tables on request, and uses the tables of the previous model until then', async () => {
    await publish('calculations', monday, revenue);
    const openedAt = (time: string) => openModel({ store, now: () => Date.parse(`2026-11-20T${time}Z`) });
    await openedAt('11:00:00');
    const first = (await findModel(store)).model;
    const second = await renew();
    await publish('calculations', tuesday, revenue, margin);
    await openedAt('13:00:00');
    const third = (await findModel(store)).model;
    await openedAt('14:00:00');
    const rows = await rowsOf('calculations');
    const fourth = await renew();

    expect([first?.tables, first?.asOf]).toEqual([null, second.asOf]);
    expect([third?.tables, third?.tablesAsOf]).toEqual([second.tables, second.asOf]);
    expect([rows.length, (await rowsOf('calculations')).length]).toEqual([1, 2]);
    expect([fourth.asOf, fourth.tablesAsOf]).toEqual([third?.asOf, third?.asOf]);
    expect(keysIn('model/')).toEqual(
      ['model/latest.json', third?.packed, ...keysOf(second).slice(0, -1), ...keysOf(fourth)].sort(),
    );
  });

  test('is complete at whichever operation its writer is killed', async () => {
    await publish('calculations', monday, revenue);
    const first = await renew();
    await publish('calculations', tuesday, revenue, margin);

    let kills = 0;
    for (; (await renew(killedAfter(kills)).catch(() => undefined)) === undefined; kills += 1) {
      const { model } = await findModel(store);
      expect(keysIn('model/')).toEqual(expect.arrayContaining([...keysOf(model ?? first)]));
      expect(await rowsOf('calculations')).toHaveLength(
        model?.runs['calculations']?.run === monday.id ? 1 : 2,
      );
    }

    expect(kills).toBeGreaterThan(10);
    expect(await rowsOf('calculations')).toHaveLength(2);
  });

  /** The store as a writer sees it that is killed after this number of operations. */
  function killedAfter(operations: number): Store {
    let remaining = operations;
    const count = () => {
      remaining -= 1;
      if (remaining < 0) throw new Error('killed');
    };
    return {
      ...store,
      get: async (...args) => {
        count();
        return store.get(...args);
      },
      put: async (...args) => {
        count();
        return store.put(...args);
      },
      delete: async (...args) => {
        count();
        return store.delete(...args);
      },
      list(...args) {
        count();
        return store.list(...args);
      },
    };
  }

  test.each([
    { which: 'first', before: [] },
    { which: 'next', before: [monday] },
  ])(
    'is one of two $which models that are written concurrently, with everything that it names',
    async ({ before }) => {
      for (const run of before) {
        await publish('calculations', run, revenue);
        await renew();
      }
      const there = keysIn('model/');
      await publish('calculations', tuesday, revenue, margin);

      const [one, other] = await Promise.all([renew(), renew()]);

      expect(one).toEqual(other);
      expect(keysIn('model/')).toEqual([...new Set(['model/latest.json', ...there, ...keysOf(one)])].sort());
    },
  );

  test('keeps the tables of the previous model if two are written concurrently without tables', async () => {
    await publish('calculations', monday, revenue);
    const before = await renew();
    await publish('calculations', tuesday, revenue, margin);

    await Promise.all([open(), open()]);

    const { model } = await findModel(store);
    expect(keysIn('model/')).toEqual(['model/latest.json', ...keysOf(before), model?.packed].sort());
    expect(model?.asOf).toBe('2026-11-20T13:00:00.000Z');
  });

  test.each([
    { how: 'lost', lose: (key: string) => store.delete(key) },
    { how: 'damaged', lose: (key: string) => store.put(key, Buffer.from('damaged')) },
  ])('is computed again if it is $how', async ({ lose }) => {
    await publish('calculations', monday, revenue);
    const before = await renew();
    await lose(before.packed);

    const { model, asOfMs } = await open();

    expect(model.calculations.nodes).toHaveLength(1);
    expect(asOfMs).toBe(Date.parse('2026-11-20T13:00:00Z'));
    expect((await findModel(store)).model?.asOf).toBe('2026-11-20T13:00:00.000Z');
  });

  test('covers the whole run of a source, even if there are narrowed ones', async () => {
    await publish('calculations.mine' as Place, tuesday, margin);
    await publish('calculations', monday, revenue);

    expect(Object.keys((await renew()).runs)).toEqual(['calculations']);
  });

  test.each([
    { datasets: 'calculations', missing: [], isMissing: true },
    { datasets: ['d-1'], missing: [], isMissing: false },
    {
      datasets: 'calculations',
      missing: [{ id: 'd-2', status: 403, since: monday.startedAt }],
      isMissing: false,
    },
    {
      datasets: 'calculations',
      missing: [{ id: 'd-2', status: 410, since: monday.startedAt }],
      isMissing: true,
    },
  ])(
    'reports the target of a card as missing only if the run has all cards: datasets $datasets, missing $missing',
    async (of) => {
      const { datasets, missing, isMissing } = of;
      const lines = ['{"id":32,"datasourceId":"d-1","urn":"dr:32:31"}'];
      const manifest = { selection: { datasets }, missing };
      await publishLines(store, { place: 'cards', run: monday, lines, manifest });

      await renew();

      expect(await rowsOf('cards')).toMatchObject([{ record_id: '32', missing_target: isMissing }]);
    },
  );
});

describe('the uses of a part', () => {
  test('are stored once, and computed again if they are missing or damaged', async () => {
    await publish('calculations', monday, revenue, margin);
    await renew();
    const [key = ''] = keysIn('parquet/uses/');
    const made = store.objects.get(key);

    for (const lose of [() => store.delete(key), () => store.put(key, Buffer.from('PAR1 damaged'))]) {
      await lose();
      await store.delete('model/latest.json');
      await renew();
      expect(store.objects.get(key)).toEqual(made);
    }

    const { runs } = await lastRuns(store, ['calculations'], () => undefined);
    const [part] = runs[0]?.manifest.parts ?? [];
    if (part === undefined) throw new Error('expected a part, got none');
    expect(usesKey(part)).toBe(key);
    expect((await storedUses(store, key))?.uses.user).toHaveLength(2);
  });

  test('are read together with their bytes, so that these can be stored unchanged for another run', async () => {
    const many = Array.from({ length: 8_000 }, (_, id) => ({
      id,
      links: [link('DATA_SOURCE', randomUUID())],
    }));
    await publish('calculations', monday, ...many);
    await renew();
    const [key = ''] = keysIn('parquet/uses/');

    const found = await storedUses(store, key);

    expect(found?.uses.user).toHaveLength(8_000);
    expect(found?.body.equals(store.objects.get(key) ?? Buffer.alloc(0))).toBe(true);
  });

  test.each([
    '{"id":7,"links":[{"resource":{"type":"FUNCTION_TEMPLATE","id":1.5}}]}',
    '{"id":7,"links":[{"resource":{"type":"FUNCTION_TEMPLATE","id":"1.5"}}]}',
    '{"id":7,"links":[{"resource":{"type":"CARD","id":8},"new":1}],"activeLinks":{"CARD":["9:1",null,"9"]}}',
    '{"id":7,"links":[],"l\\u0069nks":[{"resource":{"type":"CARD","id":"8"},"valid":""}]}',
    '{"id":7,"activeLinks":{"CARD":[],"page":["8","08"],"DATA_SOURCE":["0a","0A","-a","00"]},"links":null}',
    '{"id":"007","functionTemplateDependencies":["7","07",3,null]}',
    '{"id":7,"functionTemplateDependencies":["7","8"],"functionTemplateDependencies":["9"]}',
    '{"id":7,"links":[{"resource":{"type":"Data_Source","id":"x"},"visible":false,"valid":"BAD"},{"resource":{"type":"CARD","id":"ſ"}}],"more":{}}',
    '{"id":7,"links":[{"resource":{"type":"DATA_SOURCE","id":"8"}},{"resource":{"type":"FUNCTION_TEMPLATE","id":"8"}},{"resource":{"type":"CARD","id":"8"}}]}',
    '{"id":7,"activeLinks":{"CARD":["8"]}}',
    '{"id":7,"links":[{"resource":{"type":"CARD","id":"8"}},{"resource":{"type":"CARD","id":"8"}}],"activeLinks":{"CARD":["8","9"],"FUNCTION_TEMPLATE":["1"]}}',
    '["id"]',
  ])('are the same as in the parsed record, however the line is written: %s', async (line) => {
    const lines = [
      '{"id":1,"links":[{"resource":{"type":"CARD","id":"8:1"},"visible":false}]}',
      line,
      '{"id":2}',
    ];
    await publishLines(store, { place: 'calculations', run: monday, lines });
    const { runs } = await lastRuns(store, ['calculations']);
    const [part] = runs[0]?.manifest.parts ?? [];
    if (part === undefined) throw new Error('expected a part, got none');
    const collector = createUsesCollector();
    for (const each of lines) forEachUse('calculations', JSON.parse(each), collector.add);

    const { own: _, spellings: __, ...uses } = await usesOfPart({ store, source: 'calculations', part });

    const [found, expected] = [uses, collector.pack()].map((packed) => {
      const [graph, { thingAt }] = [graphIn(packed), thingsIn(packed.things)];
      return Array.from(graph.user, (user, edge) => [
        thingAt(user),
        thingAt(graph.used[edge] ?? -1),
        graph.relationAt(edge),
        graph.validityAt(edge),
        graph.statedByAt(edge),
      ]);
    });
    expect(found).toEqual(expected);
  });

  test('are the same if they are collected from lines that are read for another purpose, one part after another', async () => {
    const all = ['DATA_SOURCE', 'FUNCTION_TEMPLATE', 'CARD', 'page', 'Data_Source', 'card'].map(
      (type, at) => ({
        id: at + 1,
        links: [link(type, String(at + 10), { visible: at % 2 === 1, valid: `SAYS ${at}` })],
        activeLinks: { [type]: [String(at + 10), String(at + 20)] },
        functionTemplateDependencies: [String(at + 30)],
      }),
    );
    await publish('calculations', monday, ...all);
    const { runs } = await lastRuns(store, ['calculations'], () => undefined);
    const [part] = runs[0]?.manifest.parts ?? [];
    if (part === undefined) throw new Error('expected a part, got none');
    const maker = createUsesBuilder('calculations');
    await usesOfPart({ store, source: 'calculations', part });

    for (const pass of [1, 2]) {
      await eachLine({ store, parts: [part] }, maker.add);
      expect({ pass, body: maker.end() }).toEqual({
        pass,
        body: store.objects.get(usesKey(part)),
      });
    }
  });
});
