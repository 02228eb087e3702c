import { once } from '../base/index.ts';
import { manifestOf, placesIn, readLatest } from '../snapshot/history/index.ts';
import { type Place, parsePlace, runOfId } from '../snapshot/sources/index.ts';
import {
  idOfSegment,
  printStored,
  type Store,
  StoredObjectError,
  StoreError,
  unlessDamaged,
} from '../store/index.ts';

/**
 * A read-only view of a store as it was at a moment (epoch milliseconds). It has the runs that had finished by then,
 * with the last run of each place at that moment; the results of jobs that had ended; and the scores and formulas that
 * had been stored. A result that a redrive has replaced since then is missing. Scores without a job have no time, so
 * they are always included. Only tables and uses, which are built from parts, can be written; a model stays in memory.
 *
 * Reading a place throws `StoredObjectError` if its run of that moment was removed; the message lists the nearest runs.
 * If nothing had been published by then, this function throws it, with the first run in the message.
 */
export async function storeAsOf(store: Store, atMs: number): Promise<Store> {
  const at = new Date(atMs).toISOString();
  const isAhead = (key: string) => timeIn(key) > atMs;
  const lasts = new Map<Place, () => ReturnType<typeof lastAt>>();
  const lastOf = (place: Place) => {
    const last = lasts.get(place) ?? once(() => lastAt(store, place, atMs));
    lasts.set(place, last);
    return last();
  };

  const isUnscored = unscoredAt(store, at, async (key) => (await get(key)) !== undefined);
  const get: Store['get'] = async (key, options) => {
    if (key === 'model/latest.json' || isAhead(key) || (await isUnscored(key))) return undefined;
    const place = /^([^/]+)\/latest\.json$/.exec(key)?.[1];
    const of = place === undefined ? undefined : parsePlace(place);
    if (of === undefined) {
      const found = await store.get(key, options);
      return found !== undefined && endIn(key, found.body) > atMs ? undefined : found;
    }
    const last = await lastOf(of);
    return last && { body: printStored(last), etag: at };
  };

  async function refuse(key: string): Promise<never> {
    throw new StoreError(`change ${key} in the store as of ${at}`, { kind: 'read-only', code: 'AsOf' });
  }
  const onlyBuilt = <T>(key: string, change: () => Promise<T>): Promise<T> =>
    BUILT_FROM_PARTS.test(key) ? change() : refuse(key);

  const { fileOf } = store;
  await expectRuns(store, atMs, lastOf);
  return {
    location: store.location,
    get,
    stream: async (key, options) => (isAhead(key) ? undefined : store.stream(key, options)),
    async *list(prefix, options) {
      for await (const object of store.list(prefix, options))
        if (!isAhead(object.key) && !(await isUnscored(object.key))) yield object;
    },
    async *folders(prefix, options) {
      for await (const folder of store.folders(prefix, options)) if (!isAhead(`${folder}/`)) yield folder;
    },
    put: (key, ...rest) => onlyBuilt(key, () => store.put(key, ...rest)),
    putStream: (key, ...rest) => onlyBuilt(key, () => store.putStream(key, ...rest)),
    copy: (from, to, options) => onlyBuilt(to, () => store.copy(from, to, options)),
    delete: refuse,
    ...(fileOf && { fileOf: async (key) => (isAhead(key) ? undefined : fileOf(key)) }),
  };
}

/**
 * Returns a function that decides whether a key is a part of scores, or a batch's summary, that did not exist at `at`,
 * since a job of it ended later.
 */
function unscoredAt(store: Store, at: string, wasThere: (result: string) => Promise<boolean>) {
  const later = once(async () => {
    const ids: string[] = [];
    for await (const folder of store.folders('results/score/dt=')) {
      if (folder.slice(-'2026-11-21'.length) < at.slice(0, '2026-11-21'.length)) continue;
      for await (const { key } of store.list(`${folder}/`))
        if (!(await wasThere(key)))
          ids.push(idOfSegment(key.slice(folder.length + 1, -'.json'.length)) ?? '');
    }
    return ids;
  });
  return async (key: string): Promise<boolean> => {
    const [, segment, part] = /^scores\/([^/]+)\/(?:part-(\d+)-|_summary\.json$)/.exec(key) ?? [];
    if (segment === undefined) return false;
    const start = `${idOfSegment(segment)}.chunk-${part ?? ''}`;
    return (await later()).some((id) => (part === undefined ? id.startsWith(start) : id === start));
  };
}

/** Matches the keys of a run's Parquet files and uses, which depend only on its parts. */
const BUILT_FROM_PARTS = /^parquet\/(?:uses\/)?[^/]+\/dt=[^/]+\/run=[^/]+\//;

const RUN_ID = String.raw`\d{8}T\d{6}Z-[0-9a-f]{6}`;

/**
 * Each matches a kind of key, and captures its time, before which the object was not stored: a run's name, a time or a
 * day.
 */
const TIMES: readonly RegExp[] = [
  new RegExp(`^(?:parquet/|parquet/uses/|changes/)?[^/]+/dt=[^/]+/run=(${RUN_ID})/`),
  new RegExp(`^work/[^/]+/(${RUN_ID})/`),
  /^formulas\/[^/]+\/(\d{8}T\d{6}(?:\d{3})?Z)\./,
  /^results\/[^/]+\/dt=(\d{4}-\d\d-\d\d)\//,
  /^model\/history\/_?(\d{4}-\d\d-\d\d)\./,
];

function timeIn(key: string): number {
  for (const pattern of TIMES) {
    const [, y, m, d, hh = '00', mm = '00', ss = '00', ms = '000'] =
      /^(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d)(\d\d)(\d\d)(\d{3})?)?/.exec(pattern.exec(key)?.[1] ?? '') ?? [];
    if (y !== undefined) return Date.parse(`${y}-${m}-${d}T${hh}:${mm}:${ss}.${ms}Z`);
  }
  return Number.NEGATIVE_INFINITY;
}

/**
 * When the job of a stored result ended, or when a refused message was sent, in epoch milliseconds; negative infinity
 * for other objects.
 */
function endIn(key: string, body: Buffer): number {
  if (!/^(?:results|refused)\//.test(key)) return Number.NEGATIVE_INFINITY;
  const [, time = ''] = /"(?:finishedAt|sentAt)":\s*"([^"]+)"/.exec(body.toString('utf8', 0, 2_048)) ?? [];
  return Date.parse(time) || Number.NEGATIVE_INFINITY;
}

type Named = { readonly key: string; readonly run: string; readonly startMs: number };

/**
 * All runs that were ever published at a place, oldest first, and the starts of removed runs; undefined if nothing was
 * published.
 */
async function runsEverPublished(store: Store, place: Place) {
  const latest = await readLatest(store, place);
  if (latest === undefined) return undefined;
  const keys = new Set([...latest.earlier, latest.manifest]);
  const startMsOf = (run: string) => Date.parse(runOfId(run).startedAt);
  const runs = [...keys]
    .map((key): Named => {
      const run = /\/run=([^/]+)\//.exec(key)?.[1] ?? '';
      return { key, run, startMs: startMsOf(run) };
    })
    .sort((a, b) => (a.run < b.run ? -1 : 1));
  return { runs, removed: latest.removed, removedMs: latest.removed.map(startMsOf) };
}

/** `latest.json` as it was then, with the last run that had finished; undefined if no run had. */
async function lastAt(store: Store, place: Place, atMs: number) {
  const named = await runsEverPublished(store, place);
  if (named === undefined) return undefined;
  const goneMs = [...named.removedMs];
  const manifestAt = async ({ key, run, startMs }: Named) => {
    const manifest = await manifestOf(store, key, { place, run }).catch((error: unknown) => {
      if (error instanceof StoredObjectError && error.kind === 'missing') return undefined;
      throw error;
    });
    // A missing manifest has expired, so its run counts as removed.
    if (manifest === undefined) goneMs.push(startMs);
    return manifest;
  };
  const before = named.runs.filter(({ startMs }) => startMs <= atMs);
  for (let index = before.length - 1; index >= 0; index -= 1) {
    const run = before[index] as Named;
    const manifest = await manifestAt(run);
    if (manifest === undefined || Date.parse(manifest.finishedAt) > atMs) continue;
    if (wasBetween(goneMs, run.startMs, atMs)) throw await removed(manifest.finishedAt);
    const earlier = before.slice(0, index).map(({ key }) => key);
    const { startedAt } = manifest;
    return { run: run.run, manifest: run.key, startedAt, begunAfter: '', earlier, removed: named.removed };
  }
  if (wasBetween(goneMs, Number.NEGATIVE_INFINITY, atMs)) throw await removed();
  return undefined;

  async function removed(finishedBefore?: string): Promise<StoredObjectError> {
    const near = finishedBefore === undefined ? [] : [finishedBefore];
    for (const run of named?.runs ?? []) {
      const manifest = run.startMs > atMs ? await manifestAt(run) : undefined;
      if (manifest === undefined) continue;
      near.push(manifest.finishedAt);
      break;
    }
    const what = `${place}: the run of ${new Date(atMs).toISOString().slice(0, 10)} was removed`;
    return new StoredObjectError('missing', `${what}; the nearest available: ${near.join(' or ')}`);
  }
}

const wasBetween = (timesMs: readonly number[], fromMs: number, toMs: number) =>
  timesMs.some((ms) => ms > fromMs && ms <= toMs);

/**
 * Throws `StoredObjectError` if no place had a run then. If a run was removed, that is reported when its place is read.
 */
async function expectRuns(store: Store, atMs: number, lastOf: (place: Place) => Promise<unknown>) {
  const firsts: number[] = [];
  const faults: string[] = [];
  for (const place of await placesIn(store)) {
    const found = await lastOf(place).catch(unlessDamaged((fault) => faults.push(fault)));
    if (found !== undefined) return;
    const named = await runsEverPublished(store, place).catch(unlessDamaged());
    firsts.push(...(named?.runs.slice(0, 1).map(({ startMs }) => startMs) ?? []));
  }
  if (faults.length > 0) throw new StoredObjectError('missing', faults.join('\n'));
  const at = new Date(atMs).toISOString();
  const first =
    firsts.length === 0
      ? 'no run is published'
      : `the first run is of ${new Date(Math.min(...firsts)).toISOString()}`;
  throw new StoredObjectError('missing', `no run had been published by ${at}: ${first} in ${store.location}`);
}
