import { expect, test } from 'vitest';
import { clearPublishedWork } from '../../../lib/snapshot/history/prune.ts';
import type { Store } from '../../../lib/store/store.ts';
import { beforeEvery } from '../../store/before.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { monday, publishLines, tuesday } from '../changes/publish-lines.ts';

const objects = storeOfEach();
const store: Store = { ...objects, fileOf: async () => undefined };

const leave = (folder: string, name = 'part-0') => store.put(`work/${folder}/${name}`, Buffer.from('x'));

const keysUnderWork = async () => (await Array.fromAsync(store.list('work/'))).map(({ key }) => key);

test('the next process deletes what a killed process left under work/ of published runs', async () => {
  const others = ['calculations.mine/20261116T090000Z-aaaaaa', 'calculations/20261116T090000Z-999999'];
  for (const run of [monday, tuesday]) await publishLines(store, { run });
  for (const { id } of [monday, tuesday]) await leave(`calculations/${id}`);
  for (const folder of others) await leave(folder);

  await clearPublishedWork(store, 'calculations', () => undefined);

  expect(await keysUnderWork()).toEqual(others.map((folder) => `work/${folder}/part-0`));
});

test('leftovers under work/ in a bucket are left to its lifecycle rules', async () => {
  await publishLines(objects, { run: monday });
  await leave(`calculations/${monday.id}`);

  await clearPublishedWork(objects, 'calculations', () => undefined);

  expect(await keysUnderWork()).toHaveLength(1);
});

test('leftovers that cannot be deleted cause a warning', async () => {
  await publishLines(store, { run: monday });
  await leave(`calculations/${monday.id}`);
  const warnings: string[] = [];
  const failing = beforeEvery(store, 'delete', (key) => store.copy('none', key));

  await clearPublishedWork(failing, 'calculations', (what, { message }) => void warnings.push(what, message));

  expect(warnings).toEqual([
    'objects of published runs of calculations under work/ could not be deleted',
    expect.stringContaining('none'),
  ]);
});

test('a damaged latest.json causes a warning; an error of platform-sync itself is thrown', async () => {
  await leave(`calculations/${monday.id}`);
  await store.put('calculations/latest.json', Buffer.from('{'));
  const warnings: string[] = [];
  const warn = (_: string, { message }: Error) => void warnings.push(message);
  const faulty: Store = { ...store, folders: () => expect.fail('a fault') };

  await clearPublishedWork(store, 'calculations', warn);
  await expect(clearPublishedWork(faulty, 'calculations', warn)).rejects.toThrow('a fault');

  expect(warnings).toEqual([expect.stringContaining('calculations/latest.json is not what')]);
});

test('the objects with which a run could be resumed or published are deleted first', async () => {
  await publishLines(store, { run: monday });
  const deleted: string[] = [];
  for (const name of ['open-a', 'part-0', '_manifest.json', '_checkpoint.json'])
    await leave(`calculations/${monday.id}`, name);

  await clearPublishedWork(
    beforeEvery(store, 'delete', (key) => deleted.push(key.slice(key.lastIndexOf('/') + 1))),
    'calculations',
    () => undefined,
  );

  expect(deleted).toEqual(['_checkpoint.json', '_manifest.json', 'open-a', 'part-0']);
});
