import { firstLine, messageOf } from '../../base/index.ts';
import { type Place, parquetFolder } from '../../snapshot/keys.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import type { Run } from '../../snapshot/run-id.ts';
import { isSource } from '../../snapshot/sources/sources.ts';
import { glueTableOf, otherGlueTableOf } from '../catalog/glue-tables.ts';

/**
 * The partitions of the tables over published runs: one a run, and one of its changes in the table over those of all
 * places, so a run without a partition is in no table. Both functions may be repeated. A narrowed snapshot (`SOURCE.NAME`)
 * has a table if a schedule of the stack names it; any other has its changes only. They throw `PartitionsError`.
 */
export type Partitions = {
  /** Adds the run's partitions, or points existing ones at where its manifest says. Its Parquet is there by then. */
  add(place: Place, run: Run, manifest: Pick<Manifest, 'changes'>): Promise<void>;
  /** Removes the run's partitions; a missing one is not an error. Never touches an object. */
  remove(place: Place, run: Run): Promise<void>;
};

/** Where a run is in the tables. `folder` is a key in the store, and ends in a slash. */
export type PartitionOfRun = {
  readonly table: string;
  /**
   * Of a narrowed snapshot: it may have no table, or this one, since `table` may be that of another place. Its own is the
   * one over its Parquet, whose folder is `placeFolder`.
   */
  readonly narrowed: { readonly otherTable: string; readonly placeFolder: string } | undefined;
  /** In the order of the table's keys: `gluePartitionKeys`, after the place in that of changes. */
  readonly values: readonly string[];
  readonly folder: string;
};

/** The partition of a run. */
export const partitionOf = (place: Place, run: Run): PartitionOfRun => ({
  table: glueTableOf(place),
  narrowed: isSource(place)
    ? undefined
    : { otherTable: otherGlueTableOf(place), placeFolder: `parquet/${place}/` },
  values: [run.startedAt.slice(0, 10), run.id],
  folder: parquetFolder(place, run),
});

/** The partition of a run's changes, which are under this key. */
export function changesPartitionOf(place: Place, run: Run, key = ''): PartitionOfRun {
  const folder = key.slice(0, key.lastIndexOf('/') + 1);
  const values = [place, ...partitionOf(place, run).values];
  return { table: 'stored_changes', narrowed: undefined, values, folder };
}

/** Why a partition could not be added or removed; `code` is the service's own. */
export type PartitionsFailure =
  | { readonly kind: 'no-table'; readonly code: string }
  /** The SDK has no region or no credentials: `expected` names the settings. Nothing was sent. */
  | { readonly kind: 'unconfigured'; readonly code: string; readonly expected: string }
  | { readonly kind: 'denied'; readonly code: string }
  | { readonly kind: 'other'; readonly code: string };

/** The only error of partitions. Its message says what was tried, on what, and what came back. */
export class PartitionsError extends Error {
  override readonly name = 'PartitionsError';
  readonly failure: PartitionsFailure;

  /** `tried` names the action and its object: `add the partition 2026-11-21/RUN in sync.cards`. */
  constructor(tried: string, failure: PartitionsFailure, options: { readonly cause: unknown }) {
    const cause = options.cause instanceof Error ? ` (${firstLine(options.cause.message)})` : '';
    super(messageOf(`${tried}: ${describe(failure)}${cause}`), options);
    this.failure = failure;
  }
}

const describe = (failure: PartitionsFailure): string =>
  failure.kind === 'unconfigured'
    ? `expected ${failure.expected}, got none`
    : `${failure.kind}, ${failure.code}`;
