import type { Store } from '../../store/store.ts';
import type { Manifest } from '../manifest.ts';
import type { Source } from '../sources/sources.ts';
import type { Change } from './change.ts';
import type { ObserveComparison } from './comparison-events.ts';

/** Two runs of a source to compare. */
export type Comparison = {
  readonly store: Store;
  readonly source: Source;
  /** The run to compare with; undefined means a run without records. */
  readonly before: Pick<Manifest, 'parts'> | undefined;
  readonly after: Pick<Manifest, 'parts'>;
  /** The most memory that the records may take at once, in bytes. Default 128 MB. A single record may exceed it. */
  readonly memoryBytes?: number;
  /** Where records may be put meanwhile; the folder ends in a slash and is left to the caller. Default: nowhere. */
  readonly scratch?: { readonly store: Store; readonly folder: string } | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly observe?: ObserveComparison;
};

/** A change, or `restart`: every change yielded before it is void, and all are yielded again. */
export type ComparisonStep = Change | { readonly change: 'restart' };
