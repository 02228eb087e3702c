import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { folderOfEach } from '../folder-of-each.ts';

const folder = folderOfEach();

const ignored = (root: string) => readFile(join(root, '.gitignore'), 'utf8').catch(() => undefined);

test('a store that is created in its own folder is ignored by git, and has no additional object', async () => {
  const root = join(folder.path, 'store');
  const store = createDirectoryStore(root);

  await store.put('a', Buffer.from('1'));
  await store.put('b', Buffer.from('2'));

  expect(await ignored(root)).toBe('*\n');
  expect(await Array.fromAsync(store.list(''), ({ key }) => key)).toEqual(['a', 'b']);
  await expect(store.put('.gitignore', Buffer.from('x'))).rejects.toThrow(
    'a first segment other than ".gitignore"',
  );
});

test('a store whose table was created first is ignored by git too', async () => {
  const root = join(folder.path, 'store');
  await mkdir(join(root, '.store'), { recursive: true });

  await createDirectoryStore(root).put('a', Buffer.from('1'));

  expect(await ignored(root)).toBe('*\n');
});

test('a folder with other content is not changed', async () => {
  await writeFile(join(folder.path, 'package.json'), '{}');

  await createDirectoryStore(folder.path).put('a', Buffer.from('1'));

  expect(await ignored(folder.path)).toBeUndefined();
});
