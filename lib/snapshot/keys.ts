import type { Run } from './run-id.ts';

/** What can be snapshotted. */
export const sources = ['calculations', 'files', 'cards', 'data-files'] as const;
export type Source = (typeof sources)[number];

/** Where the runs of a source lie: its name, or that and the name that a narrowed snapshot was given. */
export type Place = Source | `${Source}.${string}`;

/** The source of a place. */
export const sourceOf = (place: Place): Source => place.split('.', 1)[0] as Source;

/** The place of a source under a name of its own, or without one. */
export const placeOf = (source: Source, name: string | undefined): Place =>
  name === undefined ? source : `${source}.${name}`;

/** Compression of parts, and the suffix it gives them. */
export type Compression = 'gzip' | 'zstd';
export const compressionSuffix = { gzip: 'gz', zstd: 'zst' } as const satisfies Record<Compression, string>;

/** Where a run lies while it is made. Ends in a slash. */
export const workFolder = (place: Place, run: Pick<Run, 'id'>) => `work/${place}/${run.id}/`;

/** Where a published run lies. Ends in a slash. */
export const publishedFolder = (place: Place, run: Run) =>
  `${place}/dt=${run.startedAt.slice(0, 10)}/run=${run.id}/`;

/** What points at the last published run of a source. */
export const latestKey = (place: Place) => `${place}/latest.json`;

/** A part's file name: its number and the start of its sha256. */
export const partName = (index: number, sha256: string, compression: Compression) =>
  `part-${String(index).padStart(5, '0')}-${sha256.slice(0, 12)}.ndjson.${compressionSuffix[compression]}`;

export const MANIFEST_NAME = '_manifest.json';
