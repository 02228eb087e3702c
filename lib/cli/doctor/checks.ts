import { randomUUID } from 'node:crypto';
import { CLOCK_ADVICE, needClients, proxyOf } from '../../base/aws/index.ts';
import { errorText } from '../../base/index.ts';
import { examineLimits, openQueue } from '../../jobs/index.ts';
import { sqlitePath } from '../../locations.ts';
import { openBudget, PAUSED, readPaceStatus, throttledLine } from '../../pace/index.ts';
import { createExchange, operations } from '../../platform/http/index.ts';
import { describeFailure, isStatus, isUnreached, PlatformError } from '../../platform/index.ts';
import type { Session } from '../../session.ts';
import type { Environment, Settings } from '../../settings.ts';
import { examineStore, openStore, type PutCondition, type Store, StoreError } from '../../store/index.ts';
import { checkedTable, networkOf, openTable, tableCheckOf } from '../../table/index.ts';
import { checkGlueTable } from '../../tables/index.ts';
import { remedyFor } from '../errors/explain.ts';

/** What a check found, in words; `advice`: how to fix the problem. */
type Finding =
  | { readonly status: 'ok' | 'skipped'; readonly detail: string }
  | { readonly status: 'failed'; readonly detail: string; readonly advice?: string };

/** What checks may use. The settings are valid. */
type Examined = {
  readonly environment: Environment;
  readonly settings: Settings;
  readonly session: Session;
  /** Returns the platform's response to the cheapest read, or throws its error. The request is sent only once. */
  readonly firstRead: () => Promise<unknown>;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** A check. If it throws, the error is the finding. */
export type Check = (examined: Examined) => Promise<Finding>;

const ok = (detail: string): Finding => ({ status: 'ok', detail });
const skipped = (detail: string): Finding => ({ status: 'skipped', detail });
/** A finding of a problem, with `advice` on how to fix it. */
export const failed = (detail: string, advice?: string): Finding => ({
  status: 'failed',
  detail,
  ...(advice === undefined ? {} : { advice }),
});

const NOT_TESTED = 'so conditional writes were not tested';

/** Why conditional writes are needed, and which stores have them. */
const CONDITIONS_ADVICE =
  'use a store with conditional writes (S3, or a directory): without them, two runs that are published at the same time, or a run and a `prune`, overwrite each other’s `latest.json` and checkpoints, and records are lost';

/**
 * Checks that the store supports writing, reading, listing, deleting and conditional writes, and that the bucket's
 * lifecycle rules do not delete or archive objects that must stay. A test object that is not deleted expires.
 */
const checkBucket: Check = async ({ session, environment, signal }) => {
  const store = await session.store();
  const settings = examineStore(store.location, environment, signal).catch(() => undefined);
  const key = `work/doctor/${randomUUID()}.json`;
  try {
    const finding =
      (await tryPut(store, key, { environment, signal })) ?? (await tryStore(store, key, signal));
    await store.delete(key, { signal });
    return finding.status === 'ok' ? await withSettings(finding, store.location, await settings) : finding;
  } catch (error) {
    await store.delete(key).catch(() => undefined);
    const { faults = [] } = (await settings) ?? {};
    if (faults.length > 0) return failed([errorText(error), ...faults].join('\n'), BUCKET_ADVICE);
    if (!(error instanceof StoreError && error.failure.kind === 'denied')) throw error;
    return failed(`${errorText(error)}; ${NOT_TESTED}`, remedyFor(error, environment));
  }
};

const BUCKET_ADVICE =
  'your bucket must be in the configured region, and its lifecycle rules must not delete published runs: docs/settings.md, "The store and the queue"';

/** The finding for a store without problems: the settings of its bucket, or the file system of its folder. */
async function withSettings(
  finding: Finding,
  location: string,
  bucket: Awaited<ReturnType<typeof examineStore>>,
): Promise<Finding> {
  if (location.startsWith('s3://')) {
    const { facts = ['its settings are unknown'], faults = [] } = bucket ?? {};
    if (faults.length > 0) return failed(`${location}: ${faults.join('\n')}`, BUCKET_ADVICE);
    return ok([finding.detail, ...facts].join('; '));
  }
  const network = await networkOf(location);
  return ok(`${finding.detail}; on ${network ?? 'a disk of this machine'}`);
}

const TEST_OBJECT = Buffer.from('{}\n');

/**
 * Tries to store the test object; undefined if it was stored. If the store refuses it, tries again with encryption, to
 * find out whether the bucket requires it.
 */
async function tryPut(
  store: Store,
  key: string,
  { environment, signal }: Pick<Examined, 'environment' | 'signal'>,
): Promise<Finding | undefined> {
  try {
    await store.put(key, TEST_OBJECT, { signal });
    return undefined;
  } catch (error) {
    const isDenied = error instanceof StoreError && error.failure.kind === 'denied';
    if (!isDenied || environment['SYNC_ENCRYPTION'] || !store.location.startsWith('s3://')) throw error;
    for (const SYNC_ENCRYPTION of ['AES256', 'aws:kms']) {
      const encrypting = await openStore(store.location, { s3: { ...environment, SYNC_ENCRYPTION } });
      const isStored = await encrypting.put(key, TEST_OBJECT, { signal }).then(Boolean, () => false);
      if (isStored)
        return failed(
          `${store.location} refuses objects without a header that requests encryption`,
          `set SYNC_ENCRYPTION=${SYNC_ENCRYPTION}, or aws:kms:KEY if the bucket’s policy requires a key`,
        );
    }
    const words = `${errorText(error)} (SYNC_ENCRYPTION is not set: the bucket’s policy may require aws:kms:KEY)`;
    return failed(`${words}; ${NOT_TESTED}`, remedyFor(error, environment));
  }
}

async function tryStore(store: Store, key: string, signal: AbortSignal): Promise<Finding> {
  const read = await store.get(key, { signal });
  const listed = [];
  for await (const each of store.list(key, { signal })) listed.push(each.key);
  await store.delete(key, { signal });
  if (read?.body.toString() !== TEST_OBJECT.toString() || listed.join() !== key)
    return failed(`${store.location}: reading returns something other than what was written`);
  const broken = await brokenConditions(store, key, signal).catch((error: unknown) => {
    // The store accepted the same request without a condition, so it refuses conditions.
    if (error instanceof StoreError && error.failure.kind === 'other') return [errorText(error)];
    throw error;
  });
  return broken.length === 0
    ? ok(`${store.location}: written, conditionally written, read, listed and deleted`)
    : failed(`${store.location} ignores or refuses conditions: ${broken.join('; ')}`, CONDITIONS_ADVICE);
}

/** Checks that the queues of jobs exist, can be counted, and keep waiting jobs for long enough. */
const checkQueue: Check = async ({ settings, environment }) => {
  const { SYNC_QUEUE_URL: url, SYNC_DEAD_LETTER_URL: deadUrl } = settings;
  if (url === undefined) return skipped('SYNC_QUEUE_URL is not set, so there is no queue of jobs');
  const jobs = await openQueue(url, environment);
  const { waiting, inFlight, delayed } = await jobs.counts();
  const dead =
    deadUrl === undefined
      ? undefined
      : { url: deadUrl, queue: await openQueue(deadUrl, environment, 'dead') };
  const letters = await dead?.queue.counts();
  const { limits, faults, advice } = await examineLimits({ jobs, dead });
  if (faults.length > 0) return failed(faults.join('\n'), advice);
  return ok(
    [
      `about ${waiting} waiting, ${inFlight} being worked on, ${delayed} delayed`,
      letters === undefined ? '; SYNC_DEAD_LETTER_URL is not set' : `, ${letters.waiting} dead letters`,
      limits === undefined
        ? ''
        : `; a message is received at most ${limits.maxReceives} times, is hidden for ${limits.visibilitySeconds} s each time, and is deleted after ${limits.retentionSeconds / DAY_SECONDS} days`,
    ].join(''),
  );
};

const DAY_SECONDS = 86_400;

/** The warning about restoring an older copy of the table's file. */
const RESTORE_RISK =
  '; with an older copy of this file, requests that were sent since then would be sent again';

/** The lifetime of the test row in milliseconds, in case it is not deleted. */
const ROW_LIFETIME_MS = 3_600_000;

/** Checks that the table exists and has the keys `pk` and `sk`, and that its rows can be written, read and deleted. */
const checkTable: Check = async ({ settings: { SYNC_TABLE: tableName }, environment }) => {
  if (tableName === undefined)
    return skipped('SYNC_TABLE is not set, but the queue is in SQS: `work` needs the table of that queue');
  const { table: opened } = await openTable(tableName, environment);
  const table = checkedTable(opened, tableCheckOf(tableName, environment));
  const key = { partition: `doctor#${randomUUID()}`, sort: 'doctor' };
  const token = randomUUID();
  await table.put(key, { version: 1 }, { expected: null, token, lifetimeMs: ROW_LIFETIME_MS });
  const read = await table.get(key);
  await table.delete(key, token);
  return read?.token === token
    ? ok(`${tableName}: written, read and deleted${sqlitePath(tableName) === undefined ? '' : RESTORE_RISK}`)
    : failed(`${tableName}: reading returns something other than what was written`);
};

/** Reads the budget that all workers share: its rate, and the operations that have a separate rate. */
const checkPace: Check = async ({ settings, environment, now }) => {
  const { SYNC_TABLE: table, PLATFORM_BASE_URL, PLATFORM_RATE: configured } = settings;
  if (table === undefined) return skipped('SYNC_TABLE is not set, so each process has its own pace');
  const item = await openBudget({ table, host: new URL(PLATFORM_BASE_URL).host, environment });
  const status = await readPaceStatus(item, configured, now);
  const rate = `${Number(status.effectiveRate.toFixed(3))} of ${status.configuredRate} a second`;
  const state = status.budget.pausedAtMs === undefined ? rate : PAUSED;
  return ok([state, ...status.throttledOperations.map(throttledLine)].join('\n'));
};

/** Checks that the AWS credentials permit reading the Glue tables, to which publishing adds partitions. */
const checkCatalog: Check = async ({ settings: { SYNC_GLUE_DATABASE: database }, environment }) => {
  if (database === undefined)
    return skipped('SYNC_GLUE_DATABASE is not set, so there are no tables in Athena');
  await checkGlueTable(database, 'stored_changes', environment);
  return ok(`${database}: its tables can be read`);
};

const HOST_TIMEOUT_MS = 10_000;

/** Returns the headers of the response to a HEAD request to the platform's origin. Sends no token. */
async function headOf({ settings, environment, signal }: Examined) {
  const exchange = createExchange(environment);
  const request = { url: new URL(settings.PLATFORM_BASE_URL), method: 'HEAD', headers: {} };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(HOST_TIMEOUT_MS)]);
  const { headers, body } = await exchange(
    { ...request, timeoutMs: HOST_TIMEOUT_MS, fresh: true },
    limit,
    () => undefined,
  );
  body.destroy();
  return headers;
}

/** Checks that the address can be reached, and that what responds there is the platform. */
const checkHost: Check = async (examined) => {
  const { host } = new URL(examined.settings.PLATFORM_BASE_URL);
  try {
    await examined.firstRead();
  } catch (error) {
    // The call failed before it was sent, for example because there is no token. So the host is tried without a token.
    if (!(error instanceof PlatformError)) await headOf(examined);
    else {
      const { failure } = error;
      if (isUnreached(failure) || failure.kind === 'connection' || failure.kind === 'timeout') throw error;
      if (failure.kind === 'redirect' || failure.kind === 'not-json' || isStatus(failure, 404))
        return failed(
          `${host}: ${describeFailure(failure)}`,
          'check that PLATFORM_BASE_URL is the instance’s own address, and that the instance accepts calls from this machine’s address',
        );
    }
  }
  return ok(`${host} responds`);
};

/** Checks that the platform accepts the token. */
const checkToken: Check = async ({ firstRead, settings }) => {
  const setting = settings.PLATFORM_TOKEN === undefined ? 'PLATFORM_TOKEN_SECRET' : 'PLATFORM_TOKEN';
  try {
    await firstRead();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const { failure } = error;
    if (failure.kind === 'wait') return skipped(`not tested: ${describeFailure(failure)}`);
    if (failure.kind !== 'status' || failure.status === 401 || failure.status >= 500) throw error;
  }
  return ok(`accepted (${setting}, in ${settings.PLATFORM_TOKEN_HEADER})`);
};

/** Checks that the AWS clients that the settings need are installed. */
const checkPackages: Check = async ({ environment }) => {
  const clients = needClients(environment);
  return clients.length === 0
    ? skipped('the settings need no further packages')
    : ok(`installed: ${clients.join(', ')}`);
};

/** Shows which hosts are reached through a proxy. The other checks find out whether the proxy works. */
const checkProxy: Check = async ({ settings, environment }) => {
  const isS3 = settings.SYNC_STORE.startsWith('s3://');
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || 'us-east-1';
  const urls = [
    settings.PLATFORM_BASE_URL,
    ...(isS3
      ? [
          environment['AWS_ENDPOINT_URL_S3'] ||
            environment['AWS_ENDPOINT_URL'] ||
            `https://s3.${region}.amazonaws.com`,
        ]
      : []),
    ...[settings.SYNC_QUEUE_URL ?? ''].filter((url) => URL.canParse(url) && sqlitePath(url) === undefined),
  ];
  const ways = urls.map((url) => ({ host: new URL(url).host, proxy: proxyOf(new URL(url), environment) }));
  const certificates = environment['AWS_CA_BUNDLE'] ? '; certificates of AWS_CA_BUNDLE are trusted' : '';
  if (ways.every(({ proxy }) => proxy === undefined) && certificates === '')
    return skipped('no proxy is used: HTTPS_PROXY and ALL_PROXY are not set, or NO_PROXY lists all hosts');
  return ok(
    ways.map(({ host, proxy }) => `${host} ${proxy ? `through ${proxy}` : 'directly'}`).join(', ') +
      certificates,
  );
};

/**
 * The maximum error of the clock, in milliseconds. With a larger error, AWS refuses requests, and runs get wrong names
 * and dates.
 */
const MAX_OFF_MS = 60_000;

/** Checks that this machine's clock agrees with the platform's, which is reported in whole seconds. */
const checkClock: Check = async (examined) => {
  const { date } = await headOf(examined);
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return skipped('the platform does not report its time');
  const offMs = examined.now() - theirs;
  const words = `${(Math.abs(offMs) / 1_000).toFixed(0)} s ${offMs < 0 ? 'behind' : 'ahead of'} the platform’s`;
  return Math.abs(offMs) <= MAX_OFF_MS ? ok(words) : failed(words, CLOCK_ADVICE);
};

/** The statuses of a read that is permitted, but whose record does not exist. */
const ALLOWED: ReadonlySet<number> = new Set([400, 404]);

const NO_DATASET = '00000000-0000-4000-8000-000000000000';

/** Checks that the token permits reading. Operations that run, change or cost something are not tested. */
const checkPermissions: Check = async ({ firstRead, session: { call }, signal }) => {
  const { cards, dataFiles } = operations(call);
  const reads = {
    calculations: firstRead,
    cards: () => cards.ofDataset(NO_DATASET, { signal }),
    'data files': () => dataFiles.get('0', { signal }),
  } as const;
  const refused: string[] = [];
  for (const [name, read] of Object.entries(reads)) {
    try {
      await read();
    } catch (error) {
      const failure = error instanceof PlatformError ? error.failure : undefined;
      if (failure?.kind === 'status' && failure.status === 403) refused.push(name);
      else if (failure?.kind !== 'status' || !ALLOWED.has(failure.status)) throw error;
    }
  }
  return refused.length === 0
    ? ok(
        `${Object.keys(reads).join(', ')} may be read; operations that run, change or cost something were not tested`,
      )
    : failed(
        `may not read ${refused.join(', ')} (403)`,
        'give the token’s user the permission to read them, or use another token',
      );
};

/** All checks in the order in which they run, each with the checks that must succeed before it. */
export const checks = {
  packages: { check: checkPackages, needs: [] },
  proxy: { check: checkProxy, needs: [] },
  host: { check: checkHost, needs: [] },
  token: { check: checkToken, needs: ['host'] },
  clock: { check: checkClock, needs: ['host'] },
  bucket: { check: checkBucket, needs: [] },
  queue: { check: checkQueue, needs: [] },
  table: { check: checkTable, needs: [] },
  pace: { check: checkPace, needs: ['table'] },
  catalog: { check: checkCatalog, needs: [] },
  rights: { check: checkPermissions, needs: ['host', 'token'] },
} as const satisfies Readonly<Record<string, { readonly check: Check; readonly needs: readonly string[] }>>;

export type CheckName = keyof typeof checks;

/** The number of writers that try to create one object at the same time. */
const WRITERS = 4;

/**
 * The conditions of `put` that a store ignores, in the order in which they were tested; empty if it honours all of
 * them. Writes and deletes `key`, which must be unused. If the store throws an error, the object may remain.
 */
export async function brokenConditions(
  store: Store,
  key: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const broken: string[] = [];
  const put = (words: string, condition: PutCondition) =>
    store.put(key, Buffer.from(`${JSON.stringify(words)}\n`), { condition, signal });
  const refuses = async (words: string, condition: PutCondition) => {
    if ((await put(words, condition)).kind === 'stored') broken.push(words);
  };

  const created = await Promise.all(
    Array.from({ length: WRITERS }, (_, at) => put(`writer ${at}`, { ifAbsent: true })),
  );
  const [first, ...others] = created.filter((result) => result.kind === 'stored');
  if (others.length > 0) broken.push('If-None-Match of several writers at the same time');
  await refuses('If-None-Match on an existing object', { ifAbsent: true });

  const ifMatch = (await store.get(key, { signal }))?.etag ?? first?.etag ?? '';
  const replaced = await put('replaced', { ifMatch });
  if (replaced.kind !== 'stored') broken.push('If-Match with the object’s own etag, which is refused');
  // The new content gets a new etag, which no earlier content had.
  await store.put(key, Buffer.from('"latest"\n'), { signal });
  await refuses('If-Match with the etag of the replaced object', { ifMatch });
  await store.delete(key, { signal });
  await refuses('If-Match where there is no object', { ifMatch });
  return broken;
}
