// Takes the lock of "object", with the new content in a temporary file, and never releases it.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockPath, withLock } from '../../../lib/store/directory-lock.ts';
import { writeTemporary } from '../../../lib/store/temporary-file.ts';

const directory = process.argv[2] ?? '';

await withLock({ path: lockPath(directory, 'object'), signal: undefined }, async () => {
  await writeTemporary(join(directory, '.store/temporary'), Buffer.from('never seen'));
  console.log('held');
  await sleep(60_000);
});
