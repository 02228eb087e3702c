import { readAhead } from '../../base/index.ts';

const MAX_LISTED = 256;

/** Reads items ahead, as `readAhead` does, while the list is still being read: up to 256 items are in memory. */
export async function* readListed<Item, Result>(
  listed: AsyncIterable<Item>,
  options: Omit<Parameters<typeof readAhead<Item, Result>>[0], 'items'>,
): AsyncGenerator<Result, void, undefined> {
  for await (const items of inGroups(listed, MAX_LISTED)) yield* readAhead({ ...options, items });
}

/** Divides items into groups of this size; the last group may be smaller. */
export async function* inGroups<Item>(
  items: AsyncIterable<Item>,
  size: number,
): AsyncGenerator<readonly Item[], void, undefined> {
  let group: Item[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
