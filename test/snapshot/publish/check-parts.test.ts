import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../lib/snapshot/frames/frame.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import {
  checkFrames,
  checkPlaces,
  checkPublished,
  checkRecords,
} from '../../../lib/snapshot/publish/check-parts.ts';
import { StoredObjectError } from '../../../lib/store/stored-json.ts';

const NAME = 'part-00000-0123456789ab.ndjson.gz';

const partAt = (key: string, records = 1): Part => ({
  key,
  records,
  bytes: 10,
  sha256: 'abc',
  firstKey: '1',
  lastKey: '1',
});

describe('the parts of a run', () => {
  test('lie in its folder, each once', () => {
    const parts = [partAt(`run/${NAME}`), partAt(`run/${NAME.replace('00000', '00001')}`)];

    expect(() => checkPlaces(parts, 'run/')).not.toThrow();
  });

  test.each([
    ['in another folder', [`other/${NAME}`], 'expected a part in run/, got one elsewhere'],
    ['in another folder of the same length', [`nur/${NAME}`], 'got one elsewhere'],
    ['in a folder of that one', [`run/old/${NAME}`], 'got one elsewhere'],
    ['that is no part', ['run/_manifest.json'], 'got one elsewhere'],
    ['that is named twice', [`run/${NAME}`, `run/${NAME}`], 'expected each part once, got it again'],
  ])('are refused with one %s', (_, keys, message) => {
    const check = () =>
      checkPlaces(
        keys.map((key) => partAt(key)),
        'run/',
      );

    expect(check).toThrow(StoredObjectError);
    expect(check).toThrow(message);
  });

  test('are of one series once they are published', () => {
    const parts = [partAt(`run/${NAME.replace('.ndjson', '-2.ndjson')}`)];

    expect(() => checkPublished(parts, 'run/', 2)).not.toThrow();
    expect(() => checkPublished(parts, 'run/', 1)).toThrow('expected a part of series 1');
    expect(() => checkPublished(parts, 'other/', 2)).toThrow('got one elsewhere');
  });
});

describe('the published parts', () => {
  test('have as many records as those under work/', () => {
    const [three, two, one] = [partAt('a', 3), partAt('b', 2), partAt('c', 1)];
    const last = partAt('d', 1);

    expect(() => checkRecords([three], [two, one])).not.toThrow();
    expect(() => checkRecords([three], [two, one, last])).toThrow('d: expected 3 records up to it, got 4');
    expect(() => checkRecords([three], [])).toThrow(
      'the published parts: expected 3 records up to it, got 0',
    );
  });
});

describe('the frames of a part', () => {
  const frame = (bytes: number, records: number): Frame => ({
    bytes,
    records,
    firstKey: '1',
    lastKey: '1',
    end: 'frame',
  });

  test.each([
    ['are all of it', [frame(4, 1), frame(6, 2)], true],
    ['lack bytes', [frame(4, 1), frame(5, 2)], false],
    ['lack records', [frame(4, 1), frame(6, 1)], false],
  ])('%s', (_, frames, isWhole) => {
    const check = () => checkFrames(partAt('a', 3), frames);

    if (isWhole) expect(check).not.toThrow();
    else expect(check).toThrow('a: expected frames of 10 bytes and 3 records in all');
  });
});
