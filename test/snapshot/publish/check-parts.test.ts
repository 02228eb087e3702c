import { describe, expect, test } from 'vitest';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import { checkPlaces } from '../../../lib/snapshot/publish/check-parts.ts';
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
});
