// Adds 1 to the number in "counter" as often as requested, by conditional puts. The clock is wrong by `offMs`; with
// `steps`, it jumps further after each addition, alternately forward and back.
import { createDirectoryStore } from '../../../lib/store/directory.ts';

const [, , directory = '', times = '0', offMs = '0', steps] = process.argv;
const store = createDirectoryStore(directory);
const fileSystemNow = Date.now;
let added = 0;
Date.now = () => fileSystemNow() + Number(offMs) * (steps ? (-1) ** added * (added + 1) : 1);

while (added < Number(times)) {
  const now = await store.get('counter');
  const next = Buffer.from(String(Number(now?.body ?? 0) + 1));
  const result = await store.put('counter', next, {
    condition: now ? { ifMatch: now.etag } : { ifAbsent: true },
  });
  if (result.kind === 'stored') added += 1;
  console.log(added);
}
