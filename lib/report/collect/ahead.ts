/** How many are read at once. */
const AT_ONCE = 16;

/** Reads each of `items`, some at once, and yields what came of them in their order. Memory holds those that are read at once. */
export async function* readAhead<I, T>(items: Iterable<I>, read: (item: I) => Promise<T>): AsyncGenerator<T> {
  const ahead: Promise<T>[] = [];
  for (const item of items) {
    const reading = read(item);
    // It is thrown where it is awaited.
    reading.catch(() => undefined);
    ahead.push(reading);
    if (ahead.length < AT_ONCE) continue;
    const first = ahead.shift();
    if (first !== undefined) yield await first;
  }
  for (const reading of ahead) yield await reading;
}
