// Puts 4 MiB of one letter, then of another, and so on forever; prints a line before each.
import { createDirectoryStore } from '../../../lib/store/directory.ts';

const store = createDirectoryStore(process.argv[2] ?? '');

for (let round = 0; ; round += 1) {
  console.log(round);
  await store.put('object', Buffer.alloc(4 * 1024 * 1024, round % 2 === 0 ? 'a' : 'b'));
}
