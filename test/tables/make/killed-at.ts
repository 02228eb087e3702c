import type { Store } from '../../../lib/store/store.ts';

/** A store that fails from its operation `last` on, before or after that one is done. */
function killedAt(store: Store, last: number, when: 'before' | 'after') {
  let operations = 0;
  const act = async <T>(perform: () => Promise<T>): Promise<T> => {
    operations += 1;
    if (operations > last || (operations === last && when === 'before')) throw new Error('killed');
    const result = await perform();
    if (operations >= last) throw new Error('killed');
    return result;
  };
  const killed: Store = {
    ...store,
    get: (...given) => act(() => store.get(...given)),
    stream: (...given) => act(() => store.stream(...given)),
    put: (...given) => act(() => store.put(...given)),
    copy: (...given) => act(() => store.copy(...given)),
    delete: (...given) => act(() => store.delete(...given)),
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
