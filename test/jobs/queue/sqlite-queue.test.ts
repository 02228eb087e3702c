import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

test('a message that a killed process held, and had extended, is delivered again within seconds', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-queue-'));
  const path = join(folder, 'jobs.db');
  const source = new URL('../../../lib/', import.meta.url).href;
  const file = sqliteFile(path);
  const queue = createSqliteQueue(file, { name: 'jobs', sender: 'a' });
  await queue.send(['one']);
  const code = `
    import { sqliteFile } from '${source}table/sqlite-file.ts';
    import { createSqliteQueue } from '${source}jobs/queue/sqlite-queue.ts';
    const queue = createSqliteQueue(sqliteFile(${JSON.stringify(path)}), { name: 'jobs', sender: 'b' });
    const [message] = await queue.receive({ most: 1, waitSeconds: 5, visibilitySeconds: 60 });
    await queue.extend(message.receipt, 60_000.5);
    console.log(message.body);
    setInterval(() => undefined, 1_000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const held = await queue.receive({ most: 1, waitSeconds: 0, visibilitySeconds: 60 });

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const freed = await queue.receive({ most: 1, waitSeconds: 3, visibilitySeconds: 60 });

  file.close();
  await rm(folder, { recursive: true, force: true });
  expect(held).toEqual([]);
  expect(freed.map(({ body }) => body)).toEqual(['one']);
});
