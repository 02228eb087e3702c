import { mkdir, mkdtemp, rm, rmdir, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockPath, withLock } from '../../lib/store/directory-lock.ts';

let directory = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'platform-sync-lock-'));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test('a holder whose lock was taken over commits nothing and starts again', async () => {
  const path = lockPath(directory, 'taken');
  const attempts: string[] = [];
  const committed: string[] = [];

  await withLock({ path, signal: undefined }, async (held) => {
    attempts.push('attempt');
    // What a process does that considers the lock stale, and then releases it.
    if (attempts.length === 1) {
      await rmdir(path);
      await mkdir(path);
    }
    held.commit(() => committed.push(`by attempt ${attempts.length}`));
  });

  expect(attempts).toHaveLength(2);
  expect(committed).toEqual(['by attempt 2']);
});

test('a holder that was paused until its lock looks stale commits nothing and starts again', async () => {
  const path = lockPath(directory, 'paused');
  const attempts: string[] = [];
  const committed: string[] = [];

  await withLock({ path, signal: undefined }, async (held) => {
    attempts.push('attempt');
    const renewedAt = new Date(Date.now() - 1_900);
    if (attempts.length === 1) await utimes(path, renewedAt, renewedAt);
    held.commit(() => committed.push(`by attempt ${attempts.length}`));
  });

  expect(committed).toEqual(['by attempt 2']);
});

test('a wait for a lock ends with the signal', async () => {
  const path = lockPath(directory, 'held');
  const controller = new AbortController();

  const outcome = withLock({ path, signal: undefined }, async () => {
    const second = withLock({ path, signal: controller.signal }, async () => 'never');
    controller.abort(new Error('the caller stopped'));
    return await second.catch((error: unknown) => String(error));
  });

  expect(await outcome).toContain('Error: the caller stopped');
});
