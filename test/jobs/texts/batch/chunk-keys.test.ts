import { describe, expect, test } from 'vitest';
import { chunkOfPart, chunkOfStaged } from '../../../../lib/jobs/texts/batch/batch.ts';
import { parseStaged } from '../../../../lib/jobs/texts/batch/staged-chunk.ts';

const staged = 'work/scores/b1/chunk-12.json';
const part = 'scores/b1/part-12-0123456789ab.ndjson.gz';

test('a key names the chunk of what it holds', () => {
  expect([chunkOfStaged(staged), chunkOfPart(part)]).toEqual([
    { batch: 'b1', chunk: 12 },
    { batch: 'b1', chunk: 12 },
  ]);
});

describe('no other key names one, such as', () => {
  test.each([`old/${staged}`, `${staged}.bak`, part, 'work/scores/b1/c2/chunk-12.json'])('%s', (key) => {
    expect(chunkOfStaged(key)).toBeUndefined();
  });

  test.each([`old/${part}`, `${part}.bak`, staged, 'scores/b1/part-12-0123456789a.ndjson.gz'])(
    '%s',
    (key) => {
      expect(chunkOfPart(key)).toBeUndefined();
    },
  );
});

test.each([null, 'all', undefined])('a staged chunk whose request is %s is refused', (request) => {
  const body = Buffer.from(JSON.stringify({ version: 1, host: 'acme.example.com', request, rows: [] }));

  expect(() => parseStaged(staged, body)).toThrow(staged);
});
