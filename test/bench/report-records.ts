import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { latestKey, MANIFEST_NAME, type Place, publishedFolder } from '../../lib/snapshot/keys.ts';
import { manifestOf, type Part, readLatest } from '../../lib/snapshot/manifest.ts';
import type { Store } from '../../lib/store/store.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { buildTables } from '../../lib/tables/build/build-tables.ts';
import { stateOf } from '../sandbox/platform/call-platform.ts';
import { publishedManifest } from '../snapshot/published-manifest.ts';

/** Publishes a run of `calculations` calculations of the sandbox, and one of their cards. Returns the id of a calculation. */
export async function publishRecords(store: Store, calculations: number): Promise<string> {
  const datasets = Math.max(1, Math.round(calculations / 50));
  const state = stateOf({ calculations, datasets, cards: Math.round(calculations / 7) });
  await publish(store, 'calculations', rowsOf(state.calculations));
  await publish(store, 'cards', cardsOf(state));
  const [first = Buffer.from('{}')] = rowsOf(state.calculations);
  return String(JSON.parse(Buffer.from(first).toString()).id);
}

type State = ReturnType<typeof stateOf>;

function* rowsOf(table: State['calculations']): Generator<Uint8Array> {
  for (const sequence of table.byId()) yield table.row(sequence);
}

function* cardsOf({ cards, datasets }: State): Generator<Uint8Array> {
  for (const index of datasets.keys())
    for (const { row } of cards.ofDataset(index)) yield Buffer.from(JSON.stringify(row));
}

const RUN = { id: '20261121T091500Z-3fa9c1', startedAt: '2026-11-21T09:15:00.000Z' };
const PART_RECORDS = 50_000;
const LINE_FEED = Buffer.from('\n');

async function publish(store: Store, place: Place, rows: Iterable<Uint8Array>): Promise<void> {
  const folder = publishedFolder(place, RUN);
  const parts: Part[] = [];
  let lines: Uint8Array[] = [];
  const close = async () => {
    const body = await promisify(gzip)(Buffer.concat(lines.flatMap((line) => [line, LINE_FEED])), {
      level: 1,
    });
    const sha256 = createHash('sha256').update(body).digest('hex');
    const key = `${folder}part-${String(parts.length).padStart(5, '0')}-${sha256.slice(0, 12)}.ndjson.gz`;
    await store.put(key, body);
    parts.push({ key, records: lines.length, bytes: body.byteLength, sha256, firstKey: '', lastKey: '' });
    lines = [];
  };
  for (const row of rows) {
    lines.push(Buffer.from(row));
    if (lines.length >= PART_RECORDS) await close();
  }
  if (lines.length > 0) await close();
  const records = parts.reduce((sum, part) => sum + part.records, 0);
  const manifest = `${folder}${MANIFEST_NAME}`;
  const { id: run, startedAt } = RUN;
  await store.put(
    manifest,
    printStored(publishedManifest({ source: place, run, startedAt, records, parts })),
  );
  await store.put(latestKey(place), printStored({ run, manifest, startedAt }));
}

/** Builds tables like `platform-sync tables`. */
export async function makeAllTables(store: Store, places: readonly Place[]): Promise<void> {
  const outcomes = buildTables({
    store,
    places,
    isOver: () => false,
    warn: (what) => {
      throw new Error(String(what));
    },
  });
  for await (const outcome of outcomes)
    if (outcome.kind !== 'made') throw new Error(`${outcome.name} is ${outcome.kind}`);
}

/** Number of nights in a year. */
export const DAYS = 365;
const DAY_MS = 86_400_000;

/** Publishes the last run of each place again for all nights before, as if nothing had changed. Returns the first day. */
export async function repeatDaily(
  store: Store,
  places: readonly Place[],
  days: number = DAYS,
): Promise<string> {
  const dayOf = (before: number) =>
    new Date(Date.parse(RUN.startedAt) - before * DAY_MS).toISOString().slice(0, 10);
  for (const place of places) {
    const latest = await readLatest(store, place);
    if (latest === undefined) throw new Error(`expected a run of ${place}, got none`);
    const manifest = await manifestOf(store, latest.manifest, { place, run: latest.run });
    const earlier: string[] = [];
    for (let before = days - 1; before > 0; before -= 1) {
      const startedAt = `${dayOf(before)}T09:15:00.000Z`;
      const run = { id: `${dayOf(before).replaceAll('-', '')}T091500Z-3fa9c1`, startedAt };
      const key = `${publishedFolder(place, run)}${MANIFEST_NAME}`;
      const parts = manifest.parts.map((part) => ({
        ...part,
        key: `${publishedFolder(place, run)}${part.key.split('/').at(-1)}`,
      }));
      // Runs of other days are not read.
      if (earlier.length === 0)
        for (const [at, part] of manifest.parts.entries()) await store.copy(part.key, parts[at]?.key ?? '');
      await store.put(
        key,
        printStored({ ...manifest, run: run.id, startedAt, finishedAt: startedAt, parts }),
      );
      earlier.push(key);
    }
    const { etag: _, ...rest } = latest;
    await store.put(latestKey(place), printStored({ ...rest, earlier }));
  }
  return dayOf(days - 1);
}
