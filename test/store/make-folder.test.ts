import promises, { stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { makeFolder } from '../../lib/store/directory-writer.ts';
import { folderOfEach } from '../folder-of-each.ts';

const folder = folderOfEach();

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

const failure = (code: string, path: string) =>
  Object.assign(new Error(`${code}: mkdir '${path}'`), { code, syscall: 'mkdir' });

test('makeFolder creates a folder with its parents, and accepts an existing one', async () => {
  const deep = join(folder.path, 'a', 'b', 'c');

  await makeFolder(deep);
  await makeFolder(deep);

  expect((await stat(deep)).isDirectory()).toBe(true);
});

test('makeFolder leaves a file in the folder’s place for the next operation to report', async () => {
  await writeFile(join(folder.path, 'file'), '');

  await makeFolder(join(folder.path, 'file'));

  await expect(makeFolder(join(folder.path, 'file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test('makeFolder reports a read-only file system as such, however deep the folder', async () => {
  const readOnly = async (path: string) => {
    if (path === '/mount') throw failure('EEXIST', path);
    throw failure(dirname(path) === '/mount' ? 'EROFS' : 'ENOENT', path);
  };

  await expect(makeFolder('/mount/a/b/c', readOnly)).rejects.toMatchObject({ code: 'EROFS' });
});

test('makeFolder succeeds although another process removes the parent meanwhile', async () => {
  const there = new Set(['/']);
  let removals = 3;
  const contended = async (path: string) => {
    if (there.has(path)) throw failure('EEXIST', path);
    if (path === '/a/b' && removals > 0) {
      removals -= 1;
      there.delete('/a');
    }
    if (!there.has(dirname(path))) throw failure('ENOENT', path);
    there.add(path);
  };

  await makeFolder('/a/b', contended);

  expect(there).toContain('/a/b');
});

test.runIf(process.platform === 'linux')(
  'makeFolder fails where no folder can be created, and names the path',
  async () => {
    const put = createDirectoryStore('/proc/nothing/store').put('a', Buffer.from('1'));

    await expect(put).rejects.toThrow(
      /^put a in \/proc\/nothing\/store: denied, ENOENT \(.*\/proc\/nothing'\)$/,
    );
  },
);

test.each([
  ['EROFS', 'its file system is read-only (EROFS: read-only file system, open)'],
  ['ENOSPC', 'its file system is full (ENOSPC: no space left on device, write)'],
  ['EDQUOT', 'its file system is full (EDQUOT: quota exceeded, write)'],
  ['EIO', 'EIO (EIO: i/o error, write)'],
])('the code %s is explained in words', async (code, said) => {
  const words = said.slice(said.indexOf('(') + 1, -1);
  vi.spyOn(promises, 'open').mockRejectedValue(Object.assign(new Error(words), { code }));
  syncBuiltinESMExports();

  const put = createDirectoryStore(folder.path).put('a', Buffer.from('1'));

  await expect(put).rejects.toThrow(`put a in ${folder.path}: ${said}`);
});
