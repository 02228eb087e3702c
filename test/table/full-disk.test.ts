import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { createSqliteTable } from '../../lib/table/sqlite-table.ts';
import { folderOfEach } from '../folder-of-each.ts';

const folder = folderOfEach();
const disk = () => join(folder.path, 'disk');
const file = () => sqliteFile(join(disk(), 'jobs.db'));
const mount = (...options: readonly string[]) =>
  execFileSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', disk()], { stdio: 'ignore' });

/** False without the right to mount a file system; the tests are then skipped. */
let isMounted = false;
beforeEach(() => {
  mkdirSync(disk());
  try {
    mount('-o', 'size=256k,nr_inodes=20');
    isMounted = true;
  } catch {
    isMounted = false;
  }
});

afterEach(() => {
  file().close();
  if (isMounted) execFileSync('umount', [disk()]);
});

const put = (options: { readonly needsReserve?: true } = {}) =>
  createSqliteTable(file()).put(
    { partition: 'p', sort: 's' },
    { text: 'x' },
    { expected: null, token: 't', ...options },
  );

function leave(bytes: number): void {
  const { bavail, bsize } = statfsSync(disk());
  writeFileSync(join(disk(), 'others'), Buffer.alloc(bavail * bsize - bytes));
}

test.for([0, 8_192, 36_864])(
  'with %i bytes free a write fails immediately, and leaves no files',
  async (bytes, { skip }) => {
    skip(!isMounted, 'no right to mount a file system');
    leave(bytes);
    const beganMs = performance.now();

    await expect(put()).rejects.toMatchObject({ failure: { kind: 'full' } });

    expect(performance.now() - beganMs).toBeLessThan(3_000);
    expect(readdirSync(disk(), { recursive: true }).length).toBeLessThan(8);
  },
);

test('without space for the response of a paid call, the write before that call fails, and other writes succeed', async ({
  skip,
}) => {
  skip(!isMounted, 'no right to mount a file system');
  leave(150_000);

  const [paid, free] = await Promise.allSettled([put({ needsReserve: true }), put()]);

  expect(paid).toMatchObject({ reason: { failure: { kind: 'full', code: 'ENOSPC' } } });
  expect(free).toMatchObject({ value: { kind: 'stored' } });
});

test('with space for the response, the write before a paid call succeeds', async ({ skip }) => {
  skip(!isMounted, 'no right to mount a file system');

  await expect(put({ needsReserve: true })).resolves.toMatchObject({ kind: 'stored' });
});

test('with no inode left a write reports a full disk', async ({ skip }) => {
  skip(!isMounted, 'no right to mount a file system');
  for (let index = 0; index < 19; index += 1) writeFileSync(join(disk(), `other-${index}`), '');

  await expect(put()).rejects.toMatchObject({ failure: { kind: 'full', code: 'ENOSPC' } });
});

test('a write to a read-only file system says so', async ({ skip }) => {
  skip(!isMounted, 'no right to mount a file system');
  mount('-o', 'remount,ro');

  await expect(put()).rejects.toMatchObject({ failure: { kind: 'read-only', code: 'EROFS' } });
});
