import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stateFolder, withPlaces } from '../lib/places.ts';

test('a setting that is empty is not set: all places are those of the store', () => {
  const empty = { SYNC_STORE: '/data', SYNC_TABLE: '', SYNC_QUEUE_URL: '', SYNC_DEAD_LETTER_URL: '' };

  const places = withPlaces(empty);

  expect(places).toEqual(withPlaces({ SYNC_STORE: '/data' }));
  expect(places.SYNC_TABLE).toMatch(/^sqlite:/);
});

test.each([
  ['darwin', 'Library/Application Support/platform-sync'],
  ['win32', 'AppData/Local/platform-sync'],
  ['linux', '.local/state/platform-sync'],
] as const)('what is of this user and host is where %s has it', (platform, folder) => {
  expect(stateFolder({}, platform)).toBe(join(homedir(), folder));
});
