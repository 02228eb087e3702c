import type { Store } from '../../../lib/store/store.ts';
import { sampled } from '../../scale.ts';

/** A store whose operations fail from number `last` on, before or after that one was executed. */
export function killedAt(store: Store, last: number, when: 'before' | 'after') {
  let operations = 0;
  const act = async <T>(perform: () => Promise<T>): Promise<T> => {
    operations += 1;
    if (operations > last || (operations === last && when === 'before')) throw new Error('killed');
    const result = await perform();
    if (operations >= last) throw new Error('killed');
    return result;
  };
  const { tagAll } = store;
  const killed: Store = {
    ...store,
    get: (...given) => act(() => store.get(...given)),
    stream: (...given) => act(() => store.stream(...given)),
    put: (...given) => act(() => store.put(...given)),
    putStream: (...given) => act(() => store.putStream(...given)),
    copy: (...given) => act(() => store.copy(...given)),
    delete: (...given) => act(() => store.delete(...given)),
    ...(tagAll && { tagAll: (...given) => act(() => tagAll(...given)) }),
  };
  return { killed, operations: () => operations };
}

/** For each operation in turn, runs work over a store that is killed at it, and then again over the intact store. */
export async function atEachOperation(
  begin: () => Promise<Store>,
  work: (store: Store) => Promise<unknown>,
  check: (store: Store, at: string) => Promise<void>,
): Promise<number> {
  const counted = killedAt(await begin(), Number.POSITIVE_INFINITY, 'before');
  await work(counted.killed);
  for (let last = 1; last <= counted.operations(); last += 1)
    for (const when of ['before', 'after'] as const) {
      const store = await begin();
      await work(killedAt(store, last, when).killed).catch((error: unknown) => {
        if (!(error instanceof Error && error.message === 'killed')) throw error;
      });
      await check(store, `${when} ${last}`);
    }
  return counted.operations();
}

/** How many operations are tried in a short run: each needs its own stores and queries. */
const FEW = 3;

/** A store of which one list fails, at the object or folder number `last` of all lists together. */
function listingUntil(store: Store, last: number) {
  let found = 0;
  async function* counted<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
    for await (const item of items) {
      found += 1;
      if (found === last) throw new Error('killed');
      yield item;
    }
  }
  const failing: Store = {
    ...store,
    list: (...given) => counted(store.list(...given)),
    folders: (...given) => counted(store.folders(...given)),
  };
  return { failing, found: () => found };
}

/**
 * Runs work over a store of which a list breaks off at one object: at some objects in turn, at each in a full run. The
 * work must fail, since taking an incomplete list for complete would lose the rest. Returns the number of listed
 * objects.
 */
export async function atEachListed(
  begin: () => Promise<Store>,
  work: (store: Store) => Promise<unknown>,
  check: (store: Store, at: string) => Promise<void>,
): Promise<number> {
  const counted = listingUntil(await begin(), Number.POSITIVE_INFINITY);
  await work(counted.failing);
  const each = Array.from({ length: counted.found() }, (_, at) => at + 1);
  for (const last of sampled(FEW, each)) {
    const store = await begin();
    const ended = await work(listingUntil(store, last).failing).then(
      () => 'done',
      (error: unknown) => (error instanceof Error ? error.message : error),
    );
    if (ended !== 'killed') throw new Error(`expected the error of a listing at ${last}, got ${ended}`);
    await check(store, `listed ${last}`);
  }
  return counted.found();
}
