import { syncBuiltinESMExports } from 'node:module';
import os, { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createTemporaryFolder,
  stateFolder,
  storeLocation,
  warnOfUnsharedTable,
  withDefaultLocations,
} from '../lib/locations.ts';
import { readSyncSettings, SettingsError } from '../lib/settings.ts';

test('an empty setting counts as unset: all locations follow from the store', () => {
  const empty = { SYNC_STORE: '/data', SYNC_TABLE: '', SYNC_QUEUE_URL: '', SYNC_DEAD_LETTER_URL: '' };

  const locations = withDefaultLocations(empty);

  expect(locations).toEqual(withDefaultLocations({ SYNC_STORE: '/data' }));
  expect(locations.SYNC_TABLE).toMatch(/^sqlite:/);
});

test.each([
  ['darwin', 'Library/Application Support/platform-sync'],
  ['win32', 'AppData/Local/platform-sync'],
  ['linux', '.local/state/platform-sync'],
] as const)(
  'the files of this user on this host are in the folder that %s prescribes',
  (platform, folder) => {
    expect(stateFolder({}, platform)).toBe(join(homedir(), folder));
  },
);

const IN_STORE = `sqlite:${join('/data', '.store/jobs.db')}`;
const [SQS, DEAD] = [
  'https://sqs.eu-west-1.amazonaws.com/1/jobs',
  'https://sqs.eu-west-1.amazonaws.com/1/dead',
];
const allIn = (location: string) => ({
  SYNC_TABLE: location,
  SYNC_QUEUE_URL: location,
  SYNC_DEAD_LETTER_URL: location,
});

test.each([
  ['nothing', {}, allIn(IN_STORE)],
  ['a file for the table', { SYNC_TABLE: 'sqlite:a.db' }, allIn('sqlite:a.db')],
  ['a table in DynamoDB', { SYNC_TABLE: 'jobs' }, { SYNC_TABLE: 'jobs' }],
  [
    'a file for the queue',
    { SYNC_QUEUE_URL: 'sqlite:a.db' },
    { ...allIn('sqlite:a.db'), SYNC_TABLE: IN_STORE },
  ],
  ['a queue in SQS', { SYNC_QUEUE_URL: SQS }, { SYNC_QUEUE_URL: SQS }],
  [
    'a queue in SQS and a file for the table',
    { SYNC_QUEUE_URL: SQS, SYNC_TABLE: 'sqlite:a.db' },
    { SYNC_QUEUE_URL: SQS, SYNC_TABLE: 'sqlite:a.db' },
  ],
  ['dead letters', { SYNC_DEAD_LETTER_URL: DEAD }, { ...allIn(IN_STORE), SYNC_DEAD_LETTER_URL: DEAD }],
])('if %s is set, the other locations are the table’s file, or unset', (_, given, locations) => {
  expect(withDefaultLocations({ SYNC_STORE: '/data', ...given })).toStrictEqual({
    SYNC_STORE: '/data',
    ...locations,
  });
});

test('a store in S3 has one table file on this host, with or without a slash at its end', () => {
  const tableOf = (SYNC_STORE: string) =>
    withDefaultLocations({ SYNC_STORE, XDG_STATE_HOME: '/state' }).SYNC_TABLE;

  expect(tableOf('s3://bucket/a')).toMatch(/^sqlite:[/\\]state[/\\]platform-sync[/\\][0-9a-f]{16}\.db$/);
  expect(tableOf('s3://bucket/a/')).toBe(tableOf('s3://bucket/a'));
  expect(tableOf('s3://bucket/b')).not.toBe(tableOf('s3://bucket/a'));
});

test.each([
  [{ SYNC_STORE: 's3://bucket' }, 1],
  [{ SYNC_STORE: 's3://bucket', SYNC_TABLE: 'jobs' }, 0],
  [{ SYNC_STORE: 's3://bucket', SYNC_QUEUE_URL: SQS }, 0],
  [{ SYNC_STORE: '/data' }, 0],
  [{}, 0],
])(
  'whether %j causes a warning that other machines may use the store without the table: %i',
  (given, count) => {
    const warnings: string[] = [];

    warnOfUnsharedTable(given, (text) => warnings.push(text));

    expect(warnings).toEqual(Array(count).fill(expect.stringContaining('a file of this host')));
  },
);

describe('the home folder', () => {
  const ME = { HOME: '/home/me' };

  test.each([
    ['~', '/home/me'],
    ['~/data', '/home/me/data'],
    ['~/data/', '/home/me/data/'],
    ['./~/data', './~/data'],
    ['/data/~', '/data/~'],
    ['s3://bucket/~', 's3://bucket/~'],
    ['', './platform-sync-data'],
  ])('in the store %j is expanded to %j', (SYNC_STORE, path) => {
    expect(storeLocation({ ...ME, SYNC_STORE })).toBe(path);
  });

  test.each(['SYNC_TABLE', 'SYNC_QUEUE_URL', 'SYNC_DEAD_LETTER_URL'] as const)('replaces ~ in %s', (name) => {
    expect(withDefaultLocations({ ...ME, [name]: 'sqlite:~/a.db' })[name]).toBe(
      `sqlite:${join('/home/me', 'a.db')}`,
    );
  });

  test('of another user is refused with the name of the setting, together with all other faults', () => {
    const read = () => readSyncSettings({ ...ME, SYNC_STORE: '~you/data', SYNC_QUEUE_URL: 'jobs' });

    expect(read).toThrow(/SYNC_STORE: expected a path, or ~\/ for the home folder, got "~you"/);
    expect(read).toThrow(/SYNC_QUEUE_URL: expected/);
  });

  describe('is missing, as in a container whose user has no name,', () => {
    beforeEach(() => {
      vi.spyOn(os, 'homedir').mockImplementation(() => {
        throw new Error('A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)');
      });
      syncBuiltinESMExports();
    });
    afterEach(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });

    test.each([
      ['~ in a setting', { SYNC_STORE: '~/data' }, 'SYNC_STORE without ~'],
      ['a table that is not named', { SYNC_STORE: 's3://bucket' }, 'SYNC_TABLE'],
    ])('and the error of settings says what to set: %s', (_, given, named) => {
      expect(() => readSyncSettings(given)).toThrow(SettingsError);
      expect(() => readSyncSettings(given)).toThrow(`HOME: expected the user’s home folder`);
      expect(() => readSyncSettings(given)).toThrow(named);
    });

    test('and no setting needs it', () => {
      expect(readSyncSettings({ SYNC_STORE: '/data' }).SYNC_STORE).toBe('/data');
      expect(readSyncSettings({ SYNC_STORE: 's3://bucket', SYNC_TABLE: 'jobs' }).SYNC_TABLE).toBe('jobs');
    });
  });
});

test.each([
  '$HOME/x',
  ['$', '{DATA}/x'].join(''),
  '%USERPROFILE%\\x',
  'C:\\data',
  'd:/data',
  '\\\\server\\share',
])('%s is refused, since it would be a folder of that name', (path) => {
  expect(() => storeLocation({ SYNC_STORE: path })).toThrow(
    /SYNC_STORE: expected a path, got ".*is not expanded here/,
  );
  expect(() => withDefaultLocations({ SYNC_TABLE: `sqlite:${path}` })).toThrow('SYNC_TABLE: expected a path');
  expect(storeLocation({ SYNC_STORE: `./${path}` })).toBe(`./${path}`);
});

test('a folder for temporary files that cannot be created is a fault of TMPDIR', async () => {
  await expect(createTemporaryFolder('query', '/none/such')).rejects.toThrow(
    'TMPDIR: expected a folder in which files can be created, got ENOENT: no such file or directory',
  );
});
