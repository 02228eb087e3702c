// Takes the lock of "object", and never releases it.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockPath, withLock, writeTemporary } from '../../../lib/store/directory-writer.ts';

const directory = process.argv[2] ?? '';
const { path: file } = await writeTemporary(join(directory, '.store/temporary'), Buffer.from('never seen'));

await withLock({ path: lockPath(directory, 'object'), file, signal: undefined }, async () => {
  console.log('held');
  await sleep(60_000);
});
