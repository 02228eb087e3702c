import type { Store } from '../../lib/store/store.ts';

type OnKey = 'get' | 'stream' | 'put' | 'copy' | 'delete';

/** A store in which something happens before each operation of this kind on a key; what it throws, that throws. */
export function beforeEvery<S extends Store>(
  store: S,
  operation: OnKey,
  happens: (key: string) => unknown,
): S {
  const perform = store[operation] as (key: string, ...given: never[]) => unknown;
  return {
    ...store,
    [operation]: async (key: string, ...given: never[]) => {
      await happens(key);
      return perform(key, ...given);
    },
  };
}

/** The same, but only once: before the first operation on a key that is meant. */
export function beforeFirst<S extends Store>(
  store: S,
  operation: OnKey,
  isMeant: (key: string) => boolean,
  happens: () => unknown,
): S {
  let isPending = true;
  return beforeEvery(store, operation, (key) => {
    if (!isPending || !isMeant(key)) return undefined;
    isPending = false;
    return happens();
  });
}
