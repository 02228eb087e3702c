import { expect, test } from 'vitest';
import { collectChanges } from '../../../lib/snapshot/changes/change.ts';
import { compareRuns } from '../../../lib/snapshot/changes/changes-between.ts';
import { createDirectoryStore } from '../../../lib/store/directory.ts';
import { folderOfAll } from '../../folder-of-each.ts';
import { storeRun } from './stored-run.ts';

/*
 * Decompressed memory is freed as soon as its lines are compared. At that time the last line of a buffer may still be
 * needed, and the changes found in it may not have been written.
 */

const folder = folderOfAll();
const store = createDirectoryStore(folder);

/** Lines such that some buffers end in the middle of one, and one line that fills several buffers. */
function line(source: Source, id: number, version: number): string {
  const key = source === 'files' ? `"_filesetId":"s","id":"${id}"` : `"id":${id}`;
  const text = `${id}-${version}-`.repeat(id === 1_500 ? 80_000 : 20 + (id % 97));
  return `{${key},"name":"${text}","version":${version}}`;
}

type Source = 'calculations' | 'files';

const ids = Array.from({ length: 6_000 }, (_, at) => 1_000 + at);
const fields = ['name', 'version'];

test.each([
  ['calculations', 'gzip'],
  ['calculations', 'zstd'],
  ['files', 'gzip'],
  ['files', 'zstd'],
] as const)('all changes of %s are complete in large %s parts', async (source, compression) => {
  const [before, after] = [(id: number) => line(source, id, 1), (id: number) => line(source, id, 2)];
  const options = { partRecords: 4_000, compression };
  const old = await storeRun(store, `${source}-${compression}-old`, ids.map(before), options);
  const now = await storeRun(store, `${source}-${compression}-now`, ids.map(after), options);

  const { changes } = await collectChanges(
    compareRuns({ store, source, before: { parts: [...old.parts] }, after: { parts: [...now.parts] } }),
    ids.length,
  );

  const key = (id: number) => (source === 'files' ? `s/${id}` : `${id}`);
  const expected = ids.map((id) => ({
    change: 'changed',
    key: key(id),
    before: before(id),
    after: after(id),
    fields,
  }));
  expect(changes.length).toBe(expected.length);
  for (const [at, change] of changes.entries()) expect(change).toEqual(expected[at]);
});
