import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { findRows, printPart } from '../../../lib/jobs/texts/batch/chunk-objects.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

test('the rows of a part are its lines, if its bytes match the hash in its key', async () => {
  const store = createMemoryStore();
  const { key, body } = printPart({ batch: 'b1', chunk: 0 }, [{ line: 2 }, { line: 3 }]);
  await store.put(key, body);
  const lines = (await findRows(store, key))?.map(String);

  await store.put(key, gzipSync('{"line":2}\n'));

  expect(lines).toEqual([
    '{"line":2,"outcome":"scored","batch":"b1","chunk":0}',
    '{"line":3,"outcome":"scored","batch":"b1","chunk":0}',
  ]);
  await expect(findRows(store, key)).rejects.toThrow(
    `${key} is damaged: its bytes do not match the sha256 in its name`,
  );
  expect(await findRows(store, 'scores/b1/gone')).toBeUndefined();
});
