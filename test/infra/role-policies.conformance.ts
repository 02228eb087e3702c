import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createS3Store } from '../../lib/store/s3.ts';
import { createS3Client } from '../../lib/store/s3-client.ts';
import type { Store } from '../../lib/store/store.ts';
import { startTestAws, type TestAws } from '../base/aws/start-test-aws.ts';
import { createRoleUsers, settingsOfRole } from './role-users.ts';

/*
 * Each function's statements on the bucket, enforced by a third-party engine: requests of the function succeed, all
 * others are denied.
 */

let aws: TestAws;
let roles: readonly string[];
let owner: Store;

const PRESENT = [
  'results/old.json',
  'work/runs/old.json',
  'work/scores/b/chunk-00000.json',
  'scores/b/old.json',
  'inbox/old.csv',
  'formulas/1/old.json',
  'refused/old.json',
  'calculations/dt=1/_manifest.json',
  'calculations/dt=1/part.gz',
  'calculations/latest.json',
];

beforeAll(async () => {
  aws = await startTestAws({ buckets: ['stack'] });
  owner = storeOf(aws.credentials.accessKeyId, aws.settings);
  roles = await createRoleUsers(aws.bucket('stack'));
  for (const key of PRESENT) await owner.put(key, Buffer.from('old'));
}, 60_000);

afterAll(() => aws.close());

const storeOf = (role: string, settings: Readonly<Record<string, string>> = settingsOfRole(role)): Store =>
  createS3Store({ client: createS3Client({ ...aws.settings, ...settings }), bucket: aws.bucket('stack') });

const LARGE = Buffer.alloc(9 * 1024 * 1024, 'x');

/** The operations of functions on a key, each in the form that the function uses. */
const acts = {
  get: async (store: Store, key: string) => void (await store.get(key)),
  put: async (store: Store, key: string) => void (await store.put(key, Buffer.from('x'))),
  'put if absent': async (store: Store, key: string) =>
    void (await store.put(key, Buffer.from('x'), { condition: { ifAbsent: true } })),
  'put in parts': async (store: Store, key: string) => void (await store.put(key, LARGE)),
  delete: (store: Store, key: string) => store.delete(key),
  list: async (store: Store, key: string) => void (await Array.fromAsync(store.list(key))),
  publish: (store: Store, key: string) => store.copy('work/runs/old.json', key),
  'tag all': async (store: Store, key: string) => await store.tagAll?.(key, { name: 'a', value: 'b' }),
  'list old versions': async (store: Store, key: string) =>
    void (await Array.fromAsync(store.oldVersions?.(key) ?? [])),
} as const;

type Case = readonly [act: keyof typeof acts, key: string];

const jobs = {
  may: [
    ['get', 'results/old.json'],
    ['get', 'results/none.json'],
    ['put if absent', 'results/new.json'],
    ['put in parts', 'results/large.json'],
    ['get', 'work/scores/b/chunk-00000.json'],
    ['put', 'work/new.json'],
    ['put', 'refused/new.json'],
    ['put if absent', 'formulas/1/new.json'],
    ['get', 'scores/b/old.json'],
    ['get', 'scores/b/none.json'],
    ['put in parts', 'scores/b/part.gz'],
    ['delete', 'scores/b/old.json'],
    ['list', 'scores/b/'],
  ],
  mayNot: [
    ['get', 'inbox/old.csv'],
    ['get', 'calculations/latest.json'],
    ['put', 'calculations/latest.json'],
    ['put', 'inbox/new.csv'],
    ['delete', 'results/old.json'],
    ['delete', 'formulas/1/old.json'],
    ['delete', 'work/runs/old.json'],
    ['list old versions', 'scores/'],
  ],
} as const satisfies Readonly<Record<string, readonly Case[]>>;

const cases = {
  JobsRunJobsRole: jobs,
  // Only jobs of the other role store scores.
  JobsRunFunctionsRole: {
    may: jobs.may.filter(([act, key]) => act === 'list' || !key.startsWith('scores/')),
    mayNot: [
      ...jobs.mayNot,
      ['get', 'scores/b/old.json'],
      ['put in parts', 'scores/b/part.gz'],
      ['delete', 'scores/b/old.json'],
    ],
  },
  SnapshotsSnapshotRole: {
    may: [
      ['get', 'calculations/latest.json'],
      ['get', 'work/runs/none.json'],
      ['put', 'work/runs/new.json'],
      ['put in parts', 'work/runs/part.gz'],
      ['publish', 'calculations/dt=2/part.gz'],
      ['put', 'calculations/latest.json'],
      ['put', 'calculations.narrowed/latest.json'],
      ['delete', 'work/calculations/run/open-0123456789ab.ndjson.gz'],
      ['delete', 'calculations/dt=1/_tagged.json'],
      ['delete', 'changes/calculations/dt=1/part.ndjson.gz'],
      ['list', 'work/'],
      ['tag all', 'calculations/dt=1/'],
    ],
    mayNot: [
      ['tag all', 'calculations/latest.json'],
      ['tag all', 'results/'],
      ['put', 'results/new.json'],
      ['put', 'formulas/1/new.json'],
      ['delete', 'calculations/dt=1/_manifest.json'],
      ['delete', 'calculations/dt=1/part-00000-0123456789ab.ndjson.gz'],
      ['delete', 'calculations/latest.json'],
      ['delete', 'work/runs/old.json'],
      ['publish', 'results/copied.json'],
      ['list old versions', 'work/'],
    ],
  },
  TextsSplitTextsRole: {
    may: [
      ['get', 'inbox/old.csv'],
      ['put if absent', 'work/scores/b/chunk-00001.json'],
      ['put in parts', 'scores/b/large.gz'],
      ['put', 'refused/new.json'],
      ['delete', 'scores/b/old.json'],
      ['list', 'scores/b/'],
    ],
    mayNot: [
      ['put', 'inbox/new.csv'],
      ['delete', 'inbox/old.csv'],
      ['put', 'results/new.json'],
      ['put', 'calculations/latest.json'],
      ['delete', 'work/scores/b/chunk-00000.json'],
      ['list old versions', 'inbox/'],
    ],
  },
  ExpectedSnapshotsWatchRole: {
    may: [
      ['get', 'calculations/latest.json'],
      ['put', 'work/expected-snapshots.json'],
      ['get', 'work/expected-snapshots.json'],
    ],
    mayNot: [
      ['put', 'work/new.json'],
      ['put', 'calculations/latest.json'],
      ['get', 'results/old.json'],
    ],
  },
  TablesWriteRole: {
    may: [
      ['get', 'calculations/dt=1/_manifest.json'],
      ['put in parts', 'parquet/calculations/dt=1/run=1/part.parquet'],
      ['delete', 'parquet/calculations/dt=1/run=1/part.parquet'],
    ],
    mayNot: [
      ['get', 'inbox/old.csv'],
      ['get', 'results/old.json'],
      ['put', 'results/new.json'],
      ['delete', 'results/old.json'],
      ['put', 'calculations/latest.json'],
    ],
  },
  ReportsWriteRole: {
    may: [
      ['get', 'calculations/latest.json'],
      ['list', 'calculations/'],
      ['get', 'results/old.json'],
      ['get', 'scores/b/old.json'],
      ['get', 'formulas/1/old.json'],
      ['get', 'work/runs/none.json'],
      ['put in parts', 'report/latest.html'],
      ['put if absent', 'report/digests/calculations.json'],
    ],
    mayNot: [
      ['get', 'inbox/old.csv'],
      ['get', 'refused/old.json'],
      ['put', 'work/new.json'],
      ['put', 'results/new.json'],
      ['put', 'calculations/latest.json'],
      ['delete', 'report/latest.html'],
      ['delete', 'work/runs/old.json'],
    ],
  },
} as const satisfies Readonly<
  Record<string, { readonly may: readonly Case[]; readonly mayNot: readonly Case[] }>
>;

test('every role with statements about the bucket is tested', () => {
  expect(roles.toSorted()).toEqual(Object.keys(cases).toSorted());
});

describe.each(Object.entries(cases))('%s', (role, { may, mayNot }) => {
  test.each<Case>(may)('may %s %s', async (act, key) => {
    await expect(acts[act](storeOf(role), key)).resolves.toBeUndefined();
  });

  test.each<Case>(mayNot)('may not %s %s', async (act, key) => {
    await expect(acts[act](storeOf(role), key)).rejects.toMatchObject({ failure: { kind: 'denied' } });
  });
});
