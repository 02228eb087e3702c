import type { Store } from '../../store/index.ts';
import type { Manifest, Part } from '../manifest.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { compareRecordKeys, createLineKey } from './line-key.ts';
import { bytesOf, readLines } from './line-reader.ts';

type RunKeysOptions = {
  readonly store: Store;
  readonly source: Source;
  readonly run: Pick<Manifest, 'parts'>;
  readonly signal?: AbortSignal | undefined;
};

const KEYS_AT_ONCE = 1_000;

/** The keys of a run's records in order, a thousand at a time: singly takes twice as long. Throws `StoredObjectError`. */
export async function* runKeys({
  store,
  source,
  run,
  signal,
}: RunKeysOptions): AsyncGenerator<readonly string[]> {
  const keyOf = createLineKey(sourceDefinitions[source].records.key);
  const reader = readLines({ store, parts: run.parts, signal });
  let keys: string[] = [];
  try {
    for (let found = reader.next(); typeof found === 'boolean' ? found : await found; found = reader.next()) {
      keys.push(keyOf(reader));
      reader.release();
      if (keys.length < KEYS_AT_ONCE) continue;
      yield keys;
      keys = [];
    }
    if (keys.length > 0) yield keys;
  } finally {
    await reader.close();
  }
}

type RecordsToFind = {
  readonly store: Store;
  readonly source: Source;
  readonly manifest: Pick<Manifest, 'order' | 'parts'>;
  /** A key, or an id without its owner. */
  readonly id: string;
  readonly signal?: AbortSignal | undefined;
};

/** The records of a run with this key, or with this id under any owner, as text. Reads only parts that may hold one. */
export async function* findRecords({
  store,
  source,
  manifest: { order, parts: all },
  id,
  signal,
}: RecordsToFind): AsyncGenerator<{ readonly key: string; readonly text: string }> {
  const { key: rule } = sourceDefinitions[source].records;
  const isOwned = rule.owner !== undefined;
  const isOrdered = (!isOwned || id.includes('/')) && KEY_ORDERS.includes(order) && endsInDigits(id);
  const parts = all.filter(isOrdered ? mayHold(id, compareRecordKeys(rule)) : () => true);
  const keyOf = createLineKey(rule);
  const reader = readLines({ store, parts, signal });
  try {
    for (let next = reader.next(); next === true || (await next); next = reader.next()) {
      const key = keyOf(reader);
      if (key === id || (isOwned && key.endsWith(`/${id}`)))
        yield { key, text: bytesOf(reader.line).toString() };
      reader.release();
    }
  } finally {
    await reader.close();
  }
}

/** The orders of runs in which no key is below the one before. */
const KEY_ORDERS: readonly string[] = ['id', 'ids'];

/** Whether a part may hold a record. A part whose keys do not show that is read. */
const mayHold =
  (key: string, compare: (a: string, b: string) => number) =>
  ({ firstKey, lastKey }: Part): boolean =>
    ![firstKey, lastKey].every(endsInDigits) ||
    compare(firstKey, lastKey) > 0 ||
    (compare(firstKey, key) <= 0 && compare(key, lastKey) <= 0);

const endsInDigits = (key: string): boolean => /^\d+$/.test(key.slice(key.lastIndexOf('/') + 1));
