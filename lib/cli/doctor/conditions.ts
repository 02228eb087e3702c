import type { PutCondition, Store } from '../../store/index.ts';

/** The writers that create one object at the same time. */
const WRITERS = 4;

/**
 * The conditions of `put` that a store does not keep, in the order in which they were tried; empty if it keeps all. Writes
 * and deletes `key`, under which there must be nothing. Throws what the store throws, with an object left there perhaps.
 */
export async function brokenConditions(
  store: Store,
  key: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const broken: string[] = [];
  const put = (words: string, condition: PutCondition) =>
    store.put(key, Buffer.from(`${JSON.stringify(words)}\n`), { condition, signal });
  const refuses = async (words: string, condition: PutCondition) => {
    if ((await put(words, condition)).kind === 'stored') broken.push(words);
  };

  const created = await Promise.all(
    Array.from({ length: WRITERS }, (_, at) => put(`writer ${at}`, { ifAbsent: true })),
  );
  const [first, ...others] = created.filter((result) => result.kind === 'stored');
  if (others.length > 0) broken.push('If-None-Match of several writers at once');
  await refuses('If-None-Match on an existing object', { ifAbsent: true });

  const ifMatch = (await store.get(key, { signal }))?.etag ?? first?.etag ?? '';
  const replaced = await put('replaced', { ifMatch });
  if (replaced.kind !== 'stored') broken.push('If-Match with the object’s own etag, which is refused');
  // Another content, hence another etag, whatever was stored until now.
  await store.put(key, Buffer.from('"latest"\n'), { signal });
  await refuses('If-Match with the etag of what was replaced', { ifMatch });
  await store.delete(key, { signal });
  await refuses('If-Match where there is no object', { ifMatch });
  return broken;
}
