import fs, { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { lockPath } from '../../lib/store/directory-writer.ts';
import { describeStore } from './store-suite.ts';

/*
 * On Windows, Node cannot move a folder to where one exists, even an empty one, and cannot sync a folder: both fail
 * with EPERM. Here hard links fail too, as on many portable disks. File names follow the rules of this system.
 */

const { rename, open } = fs.promises;
const platform = process.platform;
let parent = '';
const makeDirectory = () => mkdtemp(join(parent, 'store-'));
const refuse = async () => Promise.reject(Object.assign(new Error('EPERM'), { code: 'EPERM' }));

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'platform-sync-windows-'));
  vi.spyOn(fs.promises, 'rename').mockImplementation((from, to) =>
    fs.statSync(to, { throwIfNoEntry: false })?.isDirectory() ? refuse() : rename(from, to),
  );
  vi.spyOn(fs.promises, 'link').mockImplementation(refuse);
  vi.spyOn(fs.promises, 'open').mockImplementation(async (...args) => {
    const file = await open(...args);
    if ((await file.stat()).isDirectory()) file.sync = refuse;
    return file;
  });
  Object.defineProperty(process, 'platform', { value: 'win32' });
  syncBuiltinESMExports();
});

afterAll(async () => {
  vi.restoreAllMocks();
  Object.defineProperty(process, 'platform', { value: platform });
  syncBuiltinESMExports();
  await rm(parent, { recursive: true, force: true });
});

describeStore('a directory store on Windows', async () => createDirectoryStore(await makeDirectory()));

test('an empty lock that a killed process left is removed', async () => {
  const directory = await makeDirectory();
  await mkdir(lockPath(directory, 'a'), { recursive: true });

  await createDirectoryStore(directory).put('a', Buffer.from('x'));

  expect(existsSync(lockPath(directory, 'a'))).toBe(false);
});
