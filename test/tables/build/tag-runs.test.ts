import { beforeEach, describe, expect, test } from 'vitest';
import { LATEST_AGAIN, REPLACED, type Run } from '../../../lib/snapshot/keys.ts';
import { readLatest } from '../../../lib/snapshot/manifest.ts';
import { StoreError } from '../../../lib/store/error.ts';
import type { Store } from '../../../lib/store/store.ts';
import { buildTables } from '../../../lib/tables/build/build-tables.ts';
import { monday, publishFinished, tuesday, wednesday } from '../../snapshot/publish/finished-run.ts';
import { beforeEvery } from '../../store/before.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { atEachOperation } from './killed-at.ts';

/** A store whose objects have tags as in S3: a put replaces them. */
type Tagged = Store & { readonly tags: Map<string, string> };

function createTagged(): Tagged {
  const inner = createMemoryStore();
  const tags = new Map<string, string>();
  return {
    ...inner,
    tags,
    async put(key, body, options) {
      const put = await inner.put(key, body, options);
      if (put.kind === 'stored') tags.set(key, options?.tag?.value ?? '');
      return put;
    },
    async delete(key) {
      await inner.delete(key);
      tags.delete(key);
    },
    async tagAll(prefix, { value }) {
      for await (const { key } of inner.list(prefix)) tags.set(key, value);
    },
  };
}

let store: Tagged;
let warnings: string[];

beforeEach(() => {
  warnings = [];
  store = createTagged();
});

const publish = (run: Run, { to = store, force = false }: { to?: Store; force?: boolean } = {}) =>
  publishFinished(to, run, { differences: { records: 1 }, force });

const publishTwo = async (to: Store = store) => {
  for (const run of [monday, tuesday]) await publish(run, { to });
};

const make = (to: Store = store, given = {}) =>
  Array.fromAsync(
    buildTables({
      store: to,
      places: ['calculations'],
      isOver: () => false,
      isSparse: true,
      warn: (what, reason) => warnings.push(`${what}: ${reason.message}`),
      ...given,
    }),
  );

/** The different tags of all objects of a run outside `work/`. */
function tagsOf({ id }: Run, { tags } = store): readonly string[] {
  const own = [...tags].filter(([key]) => key.includes(`run=${id}/`) && !key.startsWith('work/'));
  return [...new Set(own.map(([, value]) => value))];
}

test('each run except the newest is tagged, together with its Parquet, uses and changes', async () => {
  await publishTwo();
  await publish(wednesday);

  await make();

  expect(tagsOf(monday)).toEqual([REPLACED]);
  expect(tagsOf(tuesday)).toEqual([REPLACED]);
  expect(tagsOf(wednesday)).toEqual(['']);
  expect([...store.tags.keys()].filter((key) => key.startsWith('parquet/uses/'))).toHaveLength(3);
});

test('publishing a run tags nothing', async () => {
  await publishTwo();

  expect([...new Set(store.tags.values())]).toEqual(['']);
});

test('tagged objects are not tagged again', async () => {
  await publishTwo();
  await make();
  const given: string[] = [];
  const watched: Store = { ...store, tagAll: async (prefix) => void given.push(prefix) };

  await make(watched);

  expect(given).toEqual([]);
});

test('objects that are built from a tagged run later have the tag, too', async () => {
  await publishTwo();
  await make();
  for (const key of [...store.tags.keys()]) if (key.startsWith('parquet/')) await store.delete(key);

  await make();

  expect(tagsOf(monday)).toEqual([REPLACED]);
});

describe('a run that is forced to be the newest again', () => {
  test('has no tag left before latest.json names it, nor afterwards', async () => {
    await publishTwo();
    await make();
    let atTheMove: readonly string[] = [];
    const watched = beforeEvery(store, 'put', (key) => {
      if (key === 'calculations/latest.json') atTheMove = tagsOf(monday);
    });

    await publish(monday, { to: watched, force: true });

    expect(atTheMove).not.toContain(REPLACED);
    await make();
    expect(tagsOf(monday)).not.toContain(REPLACED);
    expect(tagsOf(tuesday)).toEqual([REPLACED]);
  });

  test('is not published if the store does not remove the tags', async () => {
    await publishTwo();
    await make();
    const denied: Store = {
      ...store,
      tagAll: (prefix) => Promise.reject(new StoreError(`tag ${prefix}*`, { kind: 'denied', code: 'no' })),
    };

    await expect(publish(monday, { to: denied, force: true })).rejects.toThrow(StoreError);

    expect((await readLatest(store, 'calculations'))?.run).toBe(tuesday.id);
  });

  test('loses the tag of a process that looked for the newest run before, even if this process is killed', async () => {
    const stop = ['no', 'after it has tagged'] as const;
    for (const killed of stop) {
      store = createTagged();
      await publishTwo();
      let pending = true;
      const slow: Store = {
        ...store,
        tagAll: async (prefix, tag) => {
          if (prefix.startsWith('calculations/') && tag.value === REPLACED && pending) {
            pending = false;
            await publish(monday, { force: true });
            await store.tagAll?.(prefix, tag);
            if (killed !== 'no') throw new Error('killed');
          } else await store.tagAll?.(prefix, tag);
        },
      };

      await make(slow).catch((error: Error) => {
        if (error.message !== 'killed') throw error;
      });
      if (killed !== 'no') await make();

      expect([killed, tagsOf(monday)]).not.toContain(REPLACED);
      expect([...new Set(tagsOf(monday))]).toContain(LATEST_AGAIN);
      expect(tagsOf(monday)).not.toContain(REPLACED);
    }
  });
});

test('wherever the tagging process is killed, nothing of the newest run is tagged, and the next process tags all other runs', async () => {
  const begin = async () => {
    store = createTagged();
    await publishTwo();
    return store;
  };

  const operations = await atEachOperation(begin, make, async (killed, at) => {
    const { tags } = killed as Tagged;
    expect(tagsOf(tuesday, store), at).toEqual(['']);
    await make(killed);
    expect(tagsOf(monday, store), at).toEqual([REPLACED]);
    expect(tagsOf(tuesday, store), at).toEqual(['']);
    expect(tags, at).toBe(store.tags);
  });

  expect(operations).toBeGreaterThan(20);
});

test('wherever a forced publication is killed, the run that latest.json names has no tag', async () => {
  const begin = async () => {
    store = createTagged();
    await publishTwo();
    await make();
    return store;
  };

  const force = (to: Store) => publish(monday, { to, force: true });
  await atEachOperation(begin, force, async (killed, at) => {
    const newest = (await readLatest(killed, 'calculations'))?.run === monday.id ? monday : tuesday;
    expect(tagsOf(newest), at).not.toContain(REPLACED);
    await make();
    expect(tagsOf(newest), at).not.toContain(REPLACED);
    expect(tagsOf(newest === monday ? tuesday : monday), at).toContain(REPLACED);
  });
});

test('without the right to tag, the tables are built anyway, with a warning for each run', async () => {
  const denied: Store = {
    ...store,
    tagAll: async (prefix) => {
      throw new StoreError(`tag ${prefix}*`, { kind: 'denied', code: 'AccessDenied' });
    },
  };
  await publishTwo();

  const outcomes = await make(denied);

  expect(outcomes.map(({ kind }) => kind)).toEqual(['made', 'made']);
  expect(warnings).toEqual([
    `run ${monday.id} of calculations could not be tagged as replaced: tag calculations/dt=2026-11-16/run=${monday.id}/*: denied, AccessDenied`,
  ]);
});

test('in a store without tags, no tagging is recorded', async () => {
  const { tagAll: _, ...without } = store;
  await publishTwo(without);

  await make(without);

  expect([...store.tags.keys()].filter((key) => key.includes('_tag'))).toEqual([]);
});
