import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { lockPath, withLock } from '../../lib/store/directory-writer.ts';
import { folderOfAll } from '../folder-of-each.ts';

const directory = folderOfAll();

/** Creates a file, and the options to lock `key` with it. */
async function lockFor(key: string, signal?: AbortSignal) {
  const file = join(directory, randomUUID());
  await writeFile(file, key);
  return { path: lockPath(directory, key), file, signal };
}

/** Takes a lock over, as a process does that has seen it unchanged for long enough. */
async function takeOver({ path, file }: { readonly path: string; readonly file: string }) {
  const [name = ''] = await readdir(path);
  await rename(join(path, name), file);
}

test('a lock holder whose lock was taken over moves nothing, and starts again', async () => {
  const lock = await lockFor('taken');
  const target = join(directory, 'moved');
  const attempts: string[] = [];

  await withLock(lock, async (held) => {
    attempts.push((await readdir(lock.path)).join());
    if (attempts.length === 1) await takeOver(lock);
    held.moveTo(target);
  });

  expect(attempts).toEqual([`${basename(lock.file)}.0`, `${basename(lock.file)}.0`]);
  expect(await readFile(target, 'utf8')).toBe('taken');
});

test('a lock holder whose lock was taken over cannot renew it, and does not touch the next holder’s lock', async () => {
  const [lock, next] = [await lockFor('next'), await lockFor('next')];
  const order: string[] = [];
  let second: Promise<void> | undefined;

  await withLock(lock, async (held) => {
    if (second === undefined) {
      await takeOver(lock);
      second = withLock(next, async (theirs) => {
        await sleep(100);
        theirs.renew();
        order.push('second');
      });
      await sleep(50);
    }
    held.renew();
    order.push('first');
  });
  await second;

  expect(order).toEqual(['second', 'first']);
});

test('a lock that is held for longer than the stale time is not taken over if it is renewed', async () => {
  const [lock, other] = [await lockFor('long'), await lockFor('long')];
  const order: string[] = [];

  await Promise.all([
    withLock(lock, async (held) => {
      await sleep(3_500);
      held.renew();
      order.push('first');
    }),
    sleep(50).then(() => withLock(other, async () => order.push('second'))),
  ]);

  expect(order).toEqual(['first', 'second']);
});

test('a lock that is taken over repeatedly is given up after half a minute', async () => {
  const lock = await lockFor('fought over');
  const real = performance.now();
  let attempts = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => real + attempts * 10_000);

  const outcome = await withLock(lock, async (held) => {
    attempts += 1;
    await takeOver(lock);
    held.renew();
  }).catch((error: unknown) => error);
  clock.mockRestore();

  expect(attempts).toBe(4);
  expect(outcome).toMatchObject({ failure: { kind: 'busy' } });
  expect(await readFile(lock.file, 'utf8')).toBe('fought over');
});

test('a wait for a lock ends with the signal', async () => {
  const controller = new AbortController();
  const [lock, waiting] = [await lockFor('held'), await lockFor('held', controller.signal)];

  const outcome = await withLock(lock, async () => {
    const second = withLock(waiting, async () => 'never');
    await sleep(50);
    controller.abort(new Error('the caller stopped'));
    return await second.catch((error: unknown) => String(error));
  });

  expect(outcome).toContain('Error: the caller stopped');
  expect(await readFile(waiting.file, 'utf8')).toBe('held');
});
