import { globSync, readFileSync } from 'node:fs';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { expect, test } from 'vitest';

/** What is imported from the inside of both packages, which may change with any version of theirs. */
const inside = () =>
  globSync('lib/**/*.ts').flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /import (?!type)\{([^}]*)\} from '(hyparquet(?:-writer)?\/src\/[^']*)'/g,
      ),
    ].map(([, names = '', from = '']) => `${from} ${names.trim()}`),
  );

test('the inside of hyparquet and its writer is used for this alone, in the versions that are pinned', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

  expect([...new Set(inside())].sort()).toEqual([
    'hyparquet-writer/src/bytewriter.js ByteWriter',
    'hyparquet-writer/src/datapage.js writePageHeader',
    'hyparquet-writer/src/encoding.js writeRleBitPackedHybrid',
    'hyparquet-writer/src/metadata.js writeMetadata',
    'hyparquet/src/column.js parquetHeader',
    'hyparquet/src/encoding.js readRleBitPackedHybrid',
    'hyparquet/src/schema.js getMaxDefinitionLevel, getSchemaPath',
  ]);
  for (const name of ['hyparquet', 'hyparquet-writer']) expect(dependencies[name]).toMatch(/^\d+\.\d+\.\d+$/);
});

test('its writer appends at its index, counts in its offset, and can be emptied by both', () => {
  const writer = new ByteWriter();
  writer.appendUint32(7);

  expect([...writer.getBytes()]).toEqual([7, 0, 0, 0]);

  writer.index = 0;
  writer.appendBytes(new Uint8Array([1, 2]));

  expect([...writer.getBytes()]).toEqual([1, 2]);
  expect(writer.offset).toBe(6);
});
