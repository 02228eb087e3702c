import { expect, test } from 'vitest';
import { withPlaces } from '../lib/places.ts';

test('a setting that is empty is not set: all places are those of the store', () => {
  const empty = { SYNC_STORE: '/data', SYNC_TABLE: '', SYNC_QUEUE_URL: '', SYNC_DEAD_LETTER_URL: '' };

  const places = withPlaces(empty);

  expect(places).toEqual(withPlaces({ SYNC_STORE: '/data' }));
  expect(places.SYNC_TABLE).toMatch(/^sqlite:/);
});
