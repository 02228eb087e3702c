import type { Run } from './run-id.ts';

/** What can be snapshotted. */
export type Source = 'calculations' | 'files' | 'cards' | 'data-files';

/** Compression of parts, and the suffix it gives them. */
export type Compression = 'gzip' | 'zstd';
export const compressionSuffix = { gzip: 'gz', zstd: 'zst' } as const satisfies Record<Compression, string>;

/** Where a run lies while it is made. Ends in a slash. */
export const workFolder = (source: Source, run: Run) => `work/${source}/${run.id}/`;

/** Where a published run lies. Ends in a slash. */
export const publishedFolder = (source: Source, run: Run) =>
  `${source}/dt=${run.startedAt.slice(0, 10)}/run=${run.id}/`;

/** What points at the last published run of a source. */
export const latestKey = (source: Source) => `${source}/latest.json`;

/** A part's file name: its number and the start of its sha256. */
export const partName = (index: number, sha256: string, compression: Compression) =>
  `part-${String(index).padStart(5, '0')}-${sha256.slice(0, 12)}.ndjson.${compressionSuffix[compression]}`;

export const MANIFEST_NAME = '_manifest.json';
