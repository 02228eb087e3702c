import type { Store } from '../../../lib/store/store.ts';
import { sampled } from '../../scale.ts';

/** A store that fails from its operation `last` on, before or after that one is done. */
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

/** Runs something over a store that is killed at each of its operations in turn, and over the whole store after that. */
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

/** Each needs stores and queries of its own. */
const FEW = 3;

/** A store of which one listing fails: at the object or folder `last`, of all that they find together. */
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
 * Runs something over a store of which a listing breaks off, at some of the objects, or at all of them in a full run: it
 * must fail, since whoever took what was found for all would lose the rest. Returns how many were found.
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
