import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteQueue } from '../../../lib/jobs/queue/sqlite-queue.ts';
import { sqliteFile } from '../../../lib/table/sqlite-file.ts';
import { describeQueue } from './queue-suite.ts';

describeQueue('a queue in SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-queue-'));
  const file = sqliteFile(join(folder, 'jobs.db'));
  return {
    jobs: createSqliteQueue(file, { name: 'jobs', sender: 'a', deadLetters: { name: 'dead', most: 2 } }),
    dead: createSqliteQueue(file, { name: 'dead', sender: 'a' }),
    async [Symbol.asyncDispose]() {
      file.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
});
