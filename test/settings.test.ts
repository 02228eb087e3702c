import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { settingNames } from '../lib/contract.ts';
import { readPaceSettings, readSettings, readSyncSettings, SettingsError } from '../lib/settings.ts';

const minimal = { PLATFORM_BASE_URL: 'https://acme.example.com', PLATFORM_TOKEN: 'secret-token' };

function faultsOf(
  environment: Readonly<Record<string, string>>,
  read: (environment: Readonly<Record<string, string>>) => unknown = readSettings,
): readonly string[] {
  try {
    read(environment);
    return [];
  } catch (error) {
    return error instanceof SettingsError ? error.faults : [inspect(error)];
  }
}

const IN_STORE = 'sqlite:platform-sync-data/.store/jobs.db';

test('two variables are enough; all other variables have defaults', () => {
  expect(readSettings(minimal)).toEqual({
    ...minimal,
    PLATFORM_TOKEN_HEADER: 'X-SERVICE-Developer-Token',
    PLATFORM_RATE: 2,
    PLATFORM_CONCURRENCY: 8,
    PLATFORM_MAX_WAIT_MS: 20_000,
    PLATFORM_TIMEOUT_MS: 60_000,
    PLATFORM_MAX_RESPONSE_BYTES: 104_857_600,
    SYNC_STORE: './platform-sync-data',
    SYNC_COMPRESSION: 'gzip',
    SYNC_TABLE: IN_STORE,
    SYNC_QUEUE_URL: IN_STORE,
    SYNC_DEAD_LETTER_URL: IN_STORE,
    SYNC_PART_SECONDS: 30,
    SYNC_STACK: 'local',
    LOG_LEVEL: 'info',
  });
});

test('all faults of the settings are reported together, each with what was expected and what was found', () => {
  const faults = faultsOf({
    PLATFORM_RATE: '-1',
    PLATFORM_CONCURRENCY: '2.5',
    SYNC_COMPRESSION: 'lzma',
    LOG_LEVEL: 'loud',
  });

  expect(faults).toEqual([
    'PLATFORM_BASE_URL: expected the instance’s origin, such as https://acme.example.com, got nothing',
    'PLATFORM_RATE: expected a number from 0.001 to 10000, got "-1"',
    'PLATFORM_CONCURRENCY: expected a whole number from 1 to 1000, got "2.5"',
    'SYNC_COMPRESSION: expected gzip or zstd, got "lzma"',
    'LOG_LEVEL: expected trace, debug, info, warn, error, fatal or silent, got "loud"',
    'PLATFORM_TOKEN or PLATFORM_TOKEN_SECRET: expected one of the two, got neither',
  ]);
});

test.each([
  'AES256',
  'aws:kms',
  'aws:kms:alias/acme',
  'aws:kms:arn:aws:kms:eu-central-1:111122223333:key/0b9e4d5e',
])('SYNC_ENCRYPTION may be %s', (SYNC_ENCRYPTION) => {
  const fault = `SYNC_ENCRYPTION: expected SYNC_STORE to be in S3, got "./data"`;

  expect(faultsOf({ ...minimal, SYNC_STORE: 's3://bucket', SYNC_ENCRYPTION })).toEqual([]);
  expect(faultsOf({ ...minimal, SYNC_STORE: './data', SYNC_ENCRYPTION })).toEqual([fault]);
});

test.each(['aes256', 'AES256:key', 'aws:kms:', 'aws:kms:a key', 'kms'])(
  'SYNC_ENCRYPTION may not be %s',
  (SYNC_ENCRYPTION) => {
    expect(faultsOf({ ...minimal, SYNC_STORE: 's3://bucket', SYNC_ENCRYPTION })).toEqual([
      expect.stringMatching(/^SYNC_ENCRYPTION: expected AES256, aws:kms or aws:kms: with/),
    ]);
  },
);

describe('the base URL', () => {
  test.each([
    'https://acme.example.com',
    'https://acme.example.com/',
    'https://acme.example.com:8443',
    'http://127.0.0.1:3000',
    'http://localhost:1',
    'http://[::1]:80',
  ])('may be %s', (url) => {
    expect(faultsOf({ ...minimal, PLATFORM_BASE_URL: url })).toEqual([]);
  });

  test.each([
    'http://acme.example.com',
    'https://acme.example.com/api',
    'https://acme.example.com?x=1',
    'https://user:word@acme.example.com',
    'https://@acme.example.com',
    'ftp://acme.example.com',
    'acme.example.com',
    'http://127.0.0.1.example.com',
  ])('may not be %s', (url) => {
    expect(faultsOf({ ...minimal, PLATFORM_BASE_URL: url })[0]).toMatch(
      /^PLATFORM_BASE_URL: expected an origin over https .* got /,
    );
  });
});

test('a token that cannot be a header is refused without being shown', () => {
  const faults = faultsOf({ ...minimal, PLATFORM_TOKEN: 'sec ret\ntoken' });

  expect(faults).toEqual([
    'PLATFORM_TOKEN: expected visible ASCII characters without spaces, got 13 characters (not shown)',
  ]);
});

test.each([
  ['PLATFORM_BASE_URL', 'https://user:pass%word@acme.example.com'],
  ['PLATFORM_BASE_URL', 'user:password@acme.example.com'],
  ['PLATFORM_BASE_URL', 'https://acme.example.com/?key=password'],
  ['SYNC_QUEUE_URL', 'https://user:p@ss/password@sqs.example.com/1/jobs'],
  ['SYNC_DEAD_LETTER_URL', `https://user:${'password'.repeat(20)}@sqs.example.com/1/jobs`],
  ['HTTPS_PROXY', 'socks5://user:password@proxy.example.com:1080'],
  ['https_proxy', 'user:password@proxy.example.com:port'],
  ['ALL_PROXY', 'socks5://user:password@proxy.example.com:1080'],
  ['SYNC_STACK', 'https://user:password@acme.example.com'],
])('%s is refused, and the error hides the password in %s', (name, given) => {
  const [fault, ...others] = faultsOf({ ...minimal, [name]: given });

  expect(fault).toMatch(`${name}: expected `);
  expect(fault).toContain('***');
  expect(fault).not.toMatch(/pass|word|p@ss/);
  expect(others).toEqual([]);
});

test.each(['socks5://proxy.example.com:1080', 'proxy:port', 'http://', ' http://proxy:1'])(
  'a proxy that Node would ignore or cannot use is refused: %s',
  (proxy) => {
    for (const read of [readSettings, readSyncSettings, readPaceSettings]) {
      expect(faultsOf({ ...minimal, HTTPS_PROXY: proxy }, read)).toEqual([
        expect.stringMatching(/^HTTPS_PROXY: expected the address of an http or https proxy, got "/),
      ]);
    }
  },
);

test.each(['127.0.0.1:80800', 'socks5://127.0.0.1:1080', 'socks5h://proxy'])(
  'a proxy for everything that cannot be used is refused, unless there is one for https: %s',
  (proxy) => {
    for (const read of [readSettings, readSyncSettings, readPaceSettings]) {
      expect(faultsOf({ ...minimal, ALL_PROXY: proxy }, read)).toEqual([
        expect.stringMatching(/^ALL_PROXY: expected the address of an http or https proxy, got "/),
      ]);
      expect(faultsOf({ ...minimal, all_proxy: proxy, HTTPS_PROXY: 'http://proxy:3128' }, read)).toEqual([]);
    }
  },
);

test('a header name that may be a token by mistake is not shown', () => {
  expect(faultsOf({ ...minimal, PLATFORM_TOKEN_HEADER: 'X-Token: DDCI0123456789' })).toEqual([
    'PLATFORM_TOKEN_HEADER: expected a header name, got 23 characters (not shown)',
  ]);
});

test.each([
  'http://proxy:3128',
  'https://user:word@proxy.example.com',
  'HTTP://[::1]:3128',
  'proxy:3128',
  'user:word@127.0.0.1:3128',
  '[::1]:3128',
])('a proxy may be %s', (HTTPS_PROXY) => {
  expect(faultsOf({ ...minimal, HTTPS_PROXY })).toEqual([]);
});

test.each(['Host', 'content-length', 'Transfer-Encoding', 'CONNECTION', 'Content-Type', 'Upgrade'])(
  'the token cannot be in the header %s, which every request needs',
  (PLATFORM_TOKEN_HEADER) => {
    expect(faultsOf({ ...minimal, PLATFORM_TOKEN_HEADER })).toEqual([
      `PLATFORM_TOKEN_HEADER: expected a header that HTTP itself does not use, got "${PLATFORM_TOKEN_HEADER}"`,
    ]);
  },
);

test('a token and a secret together are refused, since choosing one would be a guess', () => {
  const faults = faultsOf({ ...minimal, PLATFORM_TOKEN_SECRET: 'platform/token' });

  expect(faults).toEqual(['PLATFORM_TOKEN or PLATFORM_TOKEN_SECRET: expected one of the two, got both']);
});

test('an empty variable counts as unset', () => {
  expect(readSettings({ ...minimal, PLATFORM_RATE: '', PLATFORM_TOKEN_SECRET: '' }).PLATFORM_RATE).toBe(2);
});

test('the rate has no separate ceiling unless one is configured', () => {
  expect(readSettings(minimal)).not.toHaveProperty('PLATFORM_RATE_CEILING', expect.anything());
  expect(readSettings({ ...minimal, PLATFORM_RATE_CEILING: '20.5' }).PLATFORM_RATE_CEILING).toBe(20.5);
});

describe('the table and the queues', () => {
  test('are read as they are given', () => {
    const given = {
      SYNC_TABLE: 'platform-sync',
      SYNC_QUEUE_URL: 'https://sqs.eu-west-1.amazonaws.com/123456789012/jobs',
      SYNC_DEAD_LETTER_URL: 'http://127.0.0.1:4566/000000000000/dead-letters',
      SYNC_ALLOW: '{"types":["score"]}',
    };

    expect(readSettings({ ...minimal, ...given })).toMatchObject(given);
  });

  test.each(['ab', 'two words', 'arn:aws:dynamodb:eu-west-1:123456789012:table/jobs', 'x'.repeat(256)])(
    '%s is refused as a table',
    (SYNC_TABLE) => {
      expect(faultsOf({ ...minimal, SYNC_TABLE })[0]).toMatch(
        /^SYNC_TABLE: expected the name of a table, 3 to 255 letters, digits, _, \. and -, or sqlite:FILE, got "/,
      );
    },
  );

  test.each([
    'platform-sync-jobs',
    'arn:aws:sqs:eu-west-1:123456789012:jobs',
    'ftp://sqs.example.com/jobs',
    'https://sqs.eu-west-1.amazonaws.com',
    'https://sqs.eu-west-1.amazonaws.com/',
    'https://user:word@sqs.example.com/1/jobs',
  ])('%s is refused as a queue', (url) => {
    expect(faultsOf({ ...minimal, SYNC_QUEUE_URL: url, SYNC_DEAD_LETTER_URL: url })).toEqual([
      expect.stringMatching(/^SYNC_QUEUE_URL: expected the http or https URL of a queue, .* got "/),
      expect.stringMatching(/^SYNC_DEAD_LETTER_URL: expected the http or https URL of a queue, .* got "/),
    ]);
  });
});

describe('the Glue database', () => {
  test('is read together with a store in S3', () => {
    const given = { SYNC_STORE: 's3://bucket/sync', SYNC_GLUE_DATABASE: 'acme_catalog' };

    expect(readSettings({ ...minimal, ...given })).toMatchObject(given);
  });

  test.each([undefined, './platform-sync-data', '/srv/s3://runs'])(
    'is refused with the store %s',
    (SYNC_STORE) => {
      const faults = faultsOf({ ...minimal, SYNC_GLUE_DATABASE: 'acme', ...(SYNC_STORE && { SYNC_STORE }) });

      expect(faults).toEqual([
        expect.stringMatching(/^SYNC_GLUE_DATABASE: expected SYNC_STORE to be in S3, got /),
      ]);
    },
  );

  test.each(['Acme', 'arn:aws:glue:eu-west-1:1:database/acme', 'two words', 'x'.repeat(256)])(
    '%s is refused as a name',
    (SYNC_GLUE_DATABASE) => {
      expect(faultsOf({ ...minimal, SYNC_STORE: 's3://bucket', SYNC_GLUE_DATABASE })[0]).toMatch(
        /^SYNC_GLUE_DATABASE: expected the name of a database, lower-case letters, digits, _ and -, got "/,
      );
    },
  );
});

describe('the snapshot function', () => {
  test.each([
    'snapshot:live',
    'snapshot:7',
    'arn:aws:lambda:eu-central-1:123456789012:function:acme-snapshot:live',
  ])('may be %s', (name) => {
    expect(faultsOf({ ...minimal, SYNC_SNAPSHOT_FUNCTION: name })).toEqual([]);
  });

  test.each(['snapshot', 'arn:aws:lambda:eu-west-1:123456789012:function:a', 'snapshot:'])(
    'may not be %s',
    (name) => {
      expect(faultsOf({ ...minimal, SYNC_SNAPSHOT_FUNCTION: name })).toEqual([
        `SYNC_SNAPSHOT_FUNCTION: expected a function’s ARN or name with its version or alias, got "${name}"`,
      ]);
    },
  );
});

describe('the links into the platform', () => {
  const links = (value: object) => ({ ...minimal, PLATFORM_LINKS: JSON.stringify(value) });

  test('are URLs by kind, with {id} instead of the id', () => {
    const given = { card: 'https://acme.example.com/cards/{id}', 'data-file': 'http://localhost:80/{id}' };

    expect(readSettings(links(given)).PLATFORM_LINKS).toEqual(given);
  });

  test.each([
    'javascript:alert(1)//{id}',
    'https://acme.example.com/cards',
    'http://acme.example.com/{id}',
    'https://{id}.example.com/',
    'https://me:secret@acme.example.com/{id}',
    '/cards/{id}',
    7,
  ])('may not be %s', (card) => {
    expect(faultsOf(links({ card }))).toEqual([
      expect.stringMatching(/^PLATFORM_LINKS\.card: expected an address with \{id\} over https \(or http/),
    ]);
  });

  test.each(['{', '[]', 'null', '{"page": "https://acme.example.com/{id}"}'])(
    'must be an object: %s',
    (text) => {
      expect(faultsOf({ ...minimal, PLATFORM_LINKS: text })).toEqual([
        `PLATFORM_LINKS: expected an object of calculation, card, dataset and data-file, got ${JSON.stringify(text)}`,
      ]);
    },
  );
});

test('the contract names exactly the settings that are read', () => {
  const optional = {
    SYNC_TABLE: 'platform-sync',
    SYNC_QUEUE_URL: 'https://sqs.example.com/1/jobs',
    SYNC_DEAD_LETTER_URL: 'https://sqs.example.com/1/dead-letters',
    PLATFORM_LINKS: '{}',
    PLATFORM_PRICES: '{"unit":"credits"}',
    PLATFORM_RATE_CEILING: '20',
    SYNC_EVENT_BUS: 'default',
    SYNC_ALLOW: '{}',
    SYNC_SNAPSHOT_FUNCTION: 'snapshot:live',
    SYNC_FOLLOWERS: '[]',
    SYNC_GATES: '{}',
    SYNC_DIGEST_URL: 'https://hooks.example.com/x',
    SYNC_STORE: 's3://bucket',
    SYNC_GLUE_DATABASE: 'platform_sync',
    SYNC_ENCRYPTION: 'AES256',
  };

  const read = Object.keys(readSettings({ ...minimal, ...optional }));

  expect(settingNames.filter((name) => name !== 'PLATFORM_TOKEN_SECRET').toSorted()).toEqual(read.toSorted());
});

describe('a command that needs no platform', () => {
  test('reads the settings of store, table and queues, and none of the platform', () => {
    const read = readSyncSettings({
      SYNC_TABLE: 'platform-sync',
      PLATFORM_BASE_URL: 'nowhere',
      LOG_LEVEL: 'loud',
    });

    expect(read).toEqual({ SYNC_STORE: './platform-sync-data', SYNC_TABLE: 'platform-sync' });
  });

  test('reports their faults in the same words as for all settings', () => {
    const wrong = {
      SYNC_TABLE: 'a b',
      SYNC_QUEUE_URL: 'jobs',
      SYNC_DEAD_LETTER_URL: 'dead',
      SYNC_GLUE_DATABASE: 'acme',
    };

    expect(faultsOf(wrong, readSyncSettings)).toHaveLength(4);
    expect(faultsOf(wrong, readSyncSettings)).toEqual(faultsOf({ ...minimal, ...wrong }));
  });
});

describe('a command that needs only the budget', () => {
  test('reads the platform’s URL, the rate and the table, and no token', () => {
    const read = readPaceSettings({
      PLATFORM_BASE_URL: 'https://acme.example.com',
      SYNC_TABLE: 'platform-sync',
      SYNC_COMPRESSION: 'lzma',
    });

    expect(read).toEqual({
      PLATFORM_BASE_URL: 'https://acme.example.com',
      PLATFORM_RATE: 2,
      SYNC_TABLE: 'platform-sync',
    });
  });

  test('reports their faults in the same words as for all settings', () => {
    const wrong = { PLATFORM_BASE_URL: 'acme', PLATFORM_RATE: '0', SYNC_TABLE: 'a b' };

    expect(faultsOf(wrong, readPaceSettings)).toHaveLength(3);
    expect(faultsOf(wrong, readPaceSettings)).toEqual(faultsOf({ ...minimal, ...wrong }));
  });
});

test.each([
  ['PLATFORM_BASE_URL', '"https://acme.example.com"\r', 'https://acme.example.com'],
  ['PLATFORM_BASE_URL', 'https://ACME.example.com.:8443/', 'https://acme.example.com:8443'],
  ['PLATFORM_TOKEN', ' abc\n', 'abc'],
  ['PLATFORM_TOKEN', "'abc'", 'abc'],
  ['PLATFORM_TOKEN_HEADER', 'X-Token ', 'X-Token'],
  ['PLATFORM_RATE', ' 5 ', 5],
  ['SYNC_STORE', ' ./data ', './data'],
  ['SYNC_COMPRESSION', 'ZSTD', 'zstd'],
  ['LOG_LEVEL', ' WARN', 'warn'],
  ['PLATFORM_LINKS', ' \'{"card":"https://a.example.com/{id}"}\' ', { card: 'https://a.example.com/{id}' }],
])('%s is read without surrounding space and quotes: %j', (name, value, read) => {
  expect(readSettings({ ...minimal, [name]: value })).toHaveProperty(name, read);
});

test('an unpaired quote, or a quote of another kind, is part of the value', () => {
  expect(readSettings({ ...minimal, PLATFORM_TOKEN: '"abc\'' }).PLATFORM_TOKEN).toBe('"abc\'');
  expect(readSettings({ ...minimal, PLATFORM_TOKEN: '"' }).PLATFORM_TOKEN).toBe('"');
});
