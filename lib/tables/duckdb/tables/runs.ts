import { publishedKeys } from '../../../snapshot/changes/published-runs.ts';
import { type Place, sourceOf } from '../../../snapshot/keys.ts';
import { type Manifest, manifestOf, readLatest } from '../../../snapshot/manifest.ts';
import { readAhead } from '../../../snapshot/sources/read-ahead.ts';
import { runColumns } from '../../catalog/runs-view.ts';
import { parquetOfRun } from '../../made/parquet-of-run.ts';
import { orReport } from '../or-report.ts';
import { duckDbColumns } from '../record-columns.ts';
import { type TextRow, writeRows } from '../row-file.ts';
import type { Session } from '../session.ts';
import type { Table } from '../table.ts';
import { dayOf } from './run-tables.ts';

/** How many manifests are read at once. */
const READ_AHEAD = 16;

/** The published runs of all places, from their manifests. */
export const runsTable = (session: Session, places: readonly Place[]): Table => ({
  name: 'stored_runs',
  columns: duckDbColumns(runColumns),
  pieceColumns: [],
  pieces: async () => [
    {
      values: [],
      prepare: async () => ({
        bytes: 0,
        copiedBytes: 0,
        load: async () => [await writeRows(session.folder, rowsOf(session, places))],
      }),
    },
  ],
});

async function* rowsOf(session: Session, places: readonly Place[]): AsyncGenerator<TextRow> {
  for (const place of places) {
    const latest = await orReport(session, readLatest(session.store, place));
    const runs = (await orReport(session, publishedKeys(session.store, place, session))) ?? [];
    const rows = readAhead({
      items: runs,
      concurrency: READ_AHEAD,
      signal: session.signal,
      read: async (run) => {
        const manifest = await orReport(
          session,
          manifestOf(session.store, run.manifest, { place, run: run.run }),
        );
        if (manifest === undefined) return undefined;
        const parquet = await parquetOfRun(session.store, place, manifest);
        return rowOf(place, manifest, { dt: dayOf(run), isLatest: run.run === latest?.run, parquet });
      },
    });
    for await (const row of rows) if (row !== undefined) yield row;
  }
}

type FoundOfRun = {
  readonly dt: string;
  readonly isLatest: boolean;
  readonly parquet: Awaited<ReturnType<typeof parquetOfRun>>;
};

function rowOf(place: Place, manifest: Manifest, { dt, isLatest, parquet }: FoundOfRun): TextRow {
  const { run, startedAt, finishedAt, changes, parts, calls, forced } = manifest;
  return {
    place,
    source: sourceOf(place),
    run,
    dt,
    latest: String(isLatest),
    startedat: startedAt,
    finishedat: finishedAt,
    records: String(manifest.records),
    missing: String(manifest.missing.length),
    consistency: manifest.consistency,
    against: changes?.against ?? null,
    added: counted(changes?.added),
    removed: counted(changes?.removed),
    changed: counted(changes?.changed),
    parts: String(parts.length),
    bytes: String(parts.reduce((sum, part) => sum + part.bytes, 0)),
    parquetbytes: counted(total(parquet.map((file) => file?.bytes))),
    other: counted(total(parquet.map((file) => file?.other))),
    requests: String(calls.requests),
    retries: String(calls.retries),
    throttled: String(calls.throttled),
    forced: String(forced),
    refused: manifest.refused,
    platform: manifest.platform,
  };
}

/** Undefined if one is not known. */
const total = (counts: readonly (number | undefined)[]): number | undefined =>
  counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
    0,
  );

const counted = (count: number | undefined) => (count === undefined ? null : String(count));
