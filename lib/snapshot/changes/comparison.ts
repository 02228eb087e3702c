import type { Store } from '../../store/index.ts';
import type { Part } from '../manifest.ts';
import type { Source } from '../sources/sources.ts';

/** Two runs of a source to compare. */
export type Comparison = {
  readonly store: Store;
  readonly source: Source;
  /** The run to compare with, and the later one. */
  readonly before: { readonly parts: readonly Part[] };
  readonly after: { readonly parts: readonly Part[] };
  /** The most memory that the records may take at once, in bytes. Default 64 MB. A single record may exceed it. */
  readonly memoryBytes?: number;
  readonly signal?: AbortSignal | undefined;
  readonly observe?: ObserveComparison | undefined;
};

/** What a comparison may hold by default: a function of 1 GB has room for more, but none is needed. */
export const MEMORY_BYTES = 64_000_000;

/** Which of the two runs. */
export type RunSide = 'before' | 'after';

/** A key was repeated in one run: the last record wins. */
export type ComparisonEvent = { readonly kind: 'repeated-key'; readonly side: RunSide; readonly key: string };

/** Called with each event, which may be repeated; if it throws, the comparison ends. */
export type ObserveComparison = (event: ComparisonEvent) => void;
