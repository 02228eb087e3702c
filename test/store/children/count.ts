// Adds 1 to the number in "counter" as often as requested, by conditional puts.
import { createDirectoryStore } from '../../../lib/store/directory.ts';

const [, , directory = '', times = '0'] = process.argv;
const store = createDirectoryStore(directory);

for (let added = 0; added < Number(times); ) {
  const now = await store.get('counter');
  const next = Buffer.from(String(Number(now?.body ?? 0) + 1));
  const result = await store.put('counter', next, {
    condition: now ? { ifMatch: now.etag } : { ifAbsent: true },
  });
  if (result.kind === 'stored') added += 1;
}
