import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LocalGlue, startGlue } from '../../../lib/sandbox/aws/services/start-glue.ts';
import { publishedRuns } from '../../../lib/snapshot/changes/published-runs.ts';
import { latestKey } from '../../../lib/snapshot/keys.ts';
import { readLatest } from '../../../lib/snapshot/manifest.ts';
import { gluePartitions } from '../../../lib/snapshot/publish/glue-partitions.ts';
import type { Partitions } from '../../../lib/snapshot/publish/partitions.ts';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { Store } from '../../../lib/store/store.ts';
import { sampled } from '../../scale.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { publishedManifest } from '../published-manifest.ts';
import { monday, storeWorkPart, tuesday } from './finished-run.ts';

let store: Store;
let glue: LocalGlue;
let partitions: Partitions;
/** Runs that were in no table when `latest.json` was moved to them. */
let withoutPartition: string[];

beforeEach(async () => {
  withoutPartition = [];
  glue = await startGlue({ database: 'sync', tables: { stored_calculations: {}, stored_changes: {} } });
  const environment = {
    AWS_ENDPOINT_URL_GLUE: glue.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'sandbox',
    AWS_SECRET_ACCESS_KEY: 'sandbox',
  };
  partitions = gluePartitions({ database: 'sync', location: 's3://bucket/sync', environment });
  store = watched({ ...createMemoryStore(), location: 's3://bucket/sync' });
});

afterEach(() => glue.close());

const inTable = () => glue.partitions('stored_calculations').map(({ Values }) => String(Values[1]));

/** What the table of the latest run reads. */
const latestFiles = async () => String((await store.get('parquet/latest/calculations/symlink.txt'))?.body);

async function filesOf(run: Run): Promise<string> {
  const keys = (await Array.fromAsync(store.list('parquet/calculations/'))).map(({ key }) => key);
  const own = keys.filter((key) => key.includes(run.id));
  return own.map((key) => `s3://bucket/sync/${key}\n`).join('');
}

const published = async () => (await publishedRuns(store, 'calculations')).map(({ run }) => run);

function watched(inner: Store): Store {
  return {
    ...inner,
    async put(key, body, options) {
      const result = await inner.put(key, body, options);
      if (key !== latestKey('calculations') || result.kind !== 'stored') return result;
      const { run } = JSON.parse(Buffer.from(body).toString()) as { run: string };
      if (!inTable().includes(run)) withoutPartition.push(run);
      return result;
    },
  };
}

/** What a publisher writes to. It may be stopped before or after its nth action. */
type Place = { readonly store: Store; readonly partitions: Partitions };

function stoppedAt(at: number, when: 'before' | 'after', happens: () => Promise<unknown>): Place {
  let actions = 0;
  const action = async <T>(go: () => Promise<T>): Promise<T> => {
    actions += 1;
    const isHere = actions === at;
    if (isHere && when === 'before') await happens();
    const result = await go();
    if (isHere && when === 'after') await happens();
    return result;
  };
  return {
    store: {
      ...store,
      put: (...args) => action(() => store.put(...args)),
      copy: (...args) => action(() => store.copy(...args)),
      delete: (...args) => action(() => store.delete(...args)),
    },
    partitions: {
      add: (...args) => action(() => partitions.add(...args)),
      remove: (...args) => action(() => partitions.remove(...args)),
    },
  };
}

type Differences = { readonly records?: number; readonly force?: boolean };

async function publish(
  run: Run,
  to: Place = { store, partitions },
  { records = 10, force = false }: Differences = {},
) {
  const parts = [await storeWorkPart(store, run, 0, [`{"id":1,"name":"of ${run.id}"}`], records)];
  const manifest = publishedManifest({ run: run.id, startedAt: run.startedAt, records, parts });
  return publishRun({
    ...to,
    source: 'calculations',
    run,
    finished: { ...manifest, scanRefused: [] },
    force,
  });
}

/** A publisher that is killed at an action; one with fewer actions finishes. */
const publishKilled = (run: Run, at: number, when: 'before' | 'after', meanwhile = async () => {}) =>
  publish(
    run,
    stoppedAt(at, when, async () => {
      await meanwhile();
      throw new Error('killed');
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof Error && error.message === 'killed')) throw error;
  });

test('a published run is in its table, and was there before latest.json named it', async () => {
  await publish(monday);
  await publish(tuesday);

  expect(inTable()).toEqual([monday.id, tuesday.id]);
  expect(withoutPartition).toEqual([]);
});

test('the table of the latest run reads the Parquet of the run that latest.json names', async () => {
  await publish(monday);
  const first = await latestFiles();
  await publish(tuesday);

  expect(first).toMatch(
    /^s3:\/\/bucket\/sync\/parquet\/calculations\/dt=2026-11-16\/run=20261116T090000Z-aaaaaa\/part-00000-[0-9a-f]{12}\.parquet\n$/,
  );
  expect([first, await latestFiles()]).toEqual([await filesOf(monday), await filesOf(tuesday)]);
});

test('a slow publisher, whose run was replaced meanwhile, does not point the table of the latest run back', async () => {
  let pending = true;
  const slow: Store = {
    ...store,
    put: async (key, ...put) => {
      const isFirst = pending && key.endsWith('symlink.txt');
      if (isFirst) pending = false;
      if (isFirst) await publish(tuesday);
      return store.put(key, ...put);
    },
  };

  await publish(monday, { store: slow, partitions });

  expect(await latestFiles()).toBe(await filesOf(tuesday));
});

test('the table of the latest run reads nothing if that run has no Parquet', async () => {
  await publish(monday);
  const { manifest = '' } = (await readLatest(store, 'calculations')) ?? {};
  const { parquet: _, ...earlier } = JSON.parse(String((await store.get(manifest))?.body));
  await store.put(manifest, Buffer.from(JSON.stringify(earlier)));

  await publish(monday);

  expect(await latestFiles()).toBe('');
});

test('a refused run is in no table until it is forcibly published', async () => {
  await publish(monday);
  await publish(tuesday, undefined, { records: 1 });
  const refused = inTable();

  await publish(tuesday, undefined, { records: 1, force: true });

  expect(refused).toEqual([monday.id]);
  expect(inTable()).toEqual([monday.id, tuesday.id]);
});

test('a run superseded by a later one is in no table', async () => {
  await publish(tuesday);

  const { kind } = await publish(monday);

  expect(kind).toBe('superseded');
  expect(inTable()).toEqual([tuesday.id]);
});

test('a run stays in its table if it is published again after a later one', async () => {
  await publish(monday);
  await publish(tuesday);

  const { kind } = await publish(monday);

  expect(kind).toBe('superseded');
  expect(inTable()).toEqual([monday.id, tuesday.id]);
});

test('publishing the last run again adds it to a table created in the meantime', async () => {
  await publish(monday);
  await partitions.remove('calculations', monday);

  await publish(monday);

  expect(inTable()).toEqual([monday.id]);
});

test('a run that was stopped just before latest.json, and is then refused, is in no table', async () => {
  await publishKilled(tuesday, 7, 'after');
  const stopped = inTable();
  await publish(monday, undefined, { records: 100 });

  const { kind } = await publish(tuesday);

  expect(stopped).toEqual([tuesday.id]);
  expect(kind).toBe('refused');
  expect(inTable()).toEqual([monday.id]);
});

test('a superseded run without a manifest was not published, so its partition is removed', async () => {
  await publish(tuesday);
  await partitions.add('calculations', monday, {});

  const { kind } = await publish(monday);

  expect(kind).toBe('superseded');
  expect(inTable()).toEqual([tuesday.id]);
});

test('publishing an earlier run again adds it to a table created in the meantime', async () => {
  await publish(monday);
  await publish(tuesday);
  await partitions.remove('calculations', monday);

  await publish(monday);

  expect(inTable().toSorted()).toEqual([monday.id, tuesday.id]);
});

test('a run that another publisher of the same run has moved latest.json to stays in its table throughout', async () => {
  const removed: string[] = [];
  const watchedPartitions: Partitions = {
    ...partitions,
    remove: async (place, run) => void removed.push(`${run.id} of ${place}`),
  };
  let pending = true;
  const slow: Store = {
    ...store,
    put: async (key, ...put) => {
      const isFirst = pending && key === latestKey('calculations');
      if (isFirst) pending = false;
      if (isFirst) await publish(monday);
      return store.put(key, ...put);
    },
  };

  const { kind } = await publish(monday, { store: slow, partitions: watchedPartitions });

  expect(kind).toBe('published');
  expect(removed).toEqual([]);
});

test('a run that lost the race is no longer in the table, even if its publisher is killed', async () => {
  const stopped = stoppedAt(8, 'before', () => publish(tuesday));
  const killed: Store = {
    ...stopped.store,
    async delete(key) {
      await stopped.store.delete(key);
      throw new Error('killed');
    },
  };

  await expect(publish(monday, { ...stopped, store: killed })).rejects.toThrow('killed');

  expect(inTable()).toEqual([tuesday.id]);
  expect(await published()).toEqual([tuesday.id]);
});

/** More than the actions of a publisher that loses the race and tries again: 8, 4 to withdraw, 10 with the changes. */
const ACTIONS = 24;

const moments = Array.from({ length: ACTIONS }, (_, index) => index + 1).flatMap(
  (action) =>
    [
      { action, when: 'before' },
      { action, when: 'after' },
    ] as const,
);

describe.each(sampled(3, moments))(
  'a publisher that is stopped $when its action $action',
  ({ action, when }) => {
    test.each([
      { name: 'an earlier run', slow: monday, quick: tuesday },
      { name: 'a later run', slow: tuesday, quick: monday },
    ])(
      'while another finishes, with $name: the table contains what is published',
      async ({ slow, quick }) => {
        await publish(
          slow,
          stoppedAt(action, when, () => publish(quick)),
        );
        await publish(quick);

        expect(inTable().toSorted()).toEqual((await published()).toSorted());
        expect(await readLatest(store, 'calculations')).toMatchObject({ run: tuesday.id });
        expect(await latestFiles()).toBe(await filesOf(tuesday));
        expect(withoutPartition).toEqual([]);
      },
    );

    test.each([
      { name: 'an earlier run', slow: monday, quick: tuesday },
      { name: 'a later run', slow: tuesday, quick: monday },
    ])(
      'and killed, with $name, and repeated after another: the table contains what is published',
      async ({ slow, quick }) => {
        await publishKilled(slow, action, when);
        await publish(quick);
        await publish(slow);

        expect(await latestFiles()).toBe(await filesOf(tuesday));
        expect(inTable().toSorted()).toEqual((await published()).toSorted());
        expect(withoutPartition).toEqual([]);
      },
    );

    test('and killed after another finished, and repeated: the table contains what is published', async () => {
      await publishKilled(monday, action, when, async () => void (await publish(tuesday)));
      await publish(tuesday);
      await publish(monday);

      expect(await latestFiles()).toBe(await filesOf(tuesday));
      expect(inTable().toSorted()).toEqual((await published()).toSorted());
      expect(withoutPartition).toEqual([]);
    });

    test('while another publishes the same run: it stays published, for both', async () => {
      const other = { kind: '' };
      const { kind } = await publish(
        monday,
        stoppedAt(action, when, async () => {
          other.kind = (await publish(monday)).kind;
        }),
      );

      expect([kind, other.kind || 'published']).toEqual(['published', 'published']);
      expect(await published()).toEqual([monday.id]);
      expect(inTable()).toEqual([monday.id]);
    });
  },
);
