import type { Store } from '../../lib/store/store.ts';

type OnKey = 'get' | 'stream' | 'put' | 'copy' | 'delete';

/** A store that calls `act` before each operation of this kind on a key. What it throws, the operation throws. */
export function beforeEvery<S extends Store>(store: S, operation: OnKey, act: (key: string) => unknown): S {
  const perform = store[operation] as (key: string, ...given: never[]) => unknown;
  return {
    ...store,
    [operation]: async (key: string, ...given: never[]) => {
      await act(key);
      return perform(key, ...given);
    },
  };
}

/** The same, but once: before the first operation on a key for which `matches` returns true. */
export function beforeFirst<S extends Store>(
  store: S,
  operation: OnKey,
  matches: (key: string) => boolean,
  act: () => unknown,
): S {
  let isPending = true;
  return beforeEvery(store, operation, (key) => {
    if (!isPending || !matches(key)) return undefined;
    isPending = false;
    return act();
  });
}
