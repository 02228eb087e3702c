import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createSqliteQueue } from '../../../lib/jobs/queue/sqlite-queue.ts';
import { sqliteFile } from '../../../lib/table/sqlite-file.ts';
import { describeQueue } from './queue-suite.ts';

describeQueue('a queue in SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-queue-'));
  const file = sqliteFile(join(folder, 'jobs.db'));
  return {
    jobs: createSqliteQueue(file, { name: 'jobs', sender: 'a', deadLetters: { name: 'dead', max: 2 } }),
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
    const [message] = await queue.receive({ max: 1, waitSeconds: 5, visibilitySeconds: 60 });
    await queue.extend(message.receipt, 60_000.5);
    console.log(message.body);
    setInterval(() => undefined, 1_000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const held = await queue.receive({ max: 1, waitSeconds: 0, visibilitySeconds: 60 });

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const freed = await queue.receive({ max: 1, waitSeconds: 3, visibilitySeconds: 60 });

  file.close();
  await rm(folder, { recursive: true, force: true });
  expect(held).toEqual([]);
  expect(freed.map(({ body }) => body)).toEqual(['one']);
});

async function queueIn() {
  const folder = await mkdtemp(join(tmpdir(), 'sqlite-queue-'));
  const file = sqliteFile(join(folder, 'jobs.db'));
  return {
    file,
    queue: createSqliteQueue(file, { name: 'jobs', sender: 'a', deadLetters: { name: 'dead', max: 1_000 } }),
    async [Symbol.asyncDispose]() {
      file.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const asked = { max: 10, waitSeconds: 0, visibilitySeconds: 60 };

test.each([40, 180])(
  'a clock that is set back by %s minutes does not make messages wait longer',
  async (minutes) => {
    await using held = await queueIn();
    const { queue } = held;
    const startMs = Date.now();
    using clock = vi.spyOn(Date, 'now').mockReturnValue(startMs);
    await queue.send(['due']);
    await queue.send(['in half an hour'], { delayMs: 1_800_000 });

    clock.mockReturnValue(startMs - minutes * 60_000);
    const first = await queue.receive(asked);
    clock.mockReturnValue(startMs - minutes * 60_000 + 1_790_000);
    const before = await queue.receive({ ...asked, max: 1 });
    clock.mockReturnValue(startMs - minutes * 60_000 + 1_801_000);
    const after = await queue.receive(asked);

    expect(first.map(({ body }) => body)).toEqual(['due']);
    // A received message that was not deleted is visible again after its minute.
    expect(before.map(({ body }) => body)).toEqual(['due']);
    expect(after.map(({ body }) => body)).toContain('in half an hour');
  },
);

test('a job costs no more if twenty times as many wait', async () => {
  await using held = await queueIn();
  const { queue } = held;
  const send = (count: number) =>
    queue.send(
      Array.from({ length: count }, (_, at) => JSON.stringify({ type: at % 2 ? 'score' : 'run', at })),
    );
  /** Milliseconds of CPU for 60 jobs, all of the one type that still has a free slot. */
  const cpuMs = async () => {
    const before = process.cpuUsage();
    for (let round = 0; round < 10; round += 1) {
      const messages = await queue.receive({ ...asked, max: 6, long: { types: ['score'], max: 0 } });
      for (const [at, { receipt }] of messages.entries())
        await (at % 2 ? queue.delay(receipt, 1_000_000) : queue.delete(receipt));
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  // Other processes disturb the caches: the lowest of several rounds counts.
  const lowest = async () => Math.min(await cpuMs(), await cpuMs(), await cpuMs());
  await send(1_000);
  const few = await lowest();
  await send(20_000);
  const many = await lowest();

  expect(many).toBeLessThan(3 * few + 30);
});
