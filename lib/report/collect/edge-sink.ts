import type { Edge } from '../graph/edges.ts';

/** Takes the edges of records while a run is read again. */
export type EdgeSink = {
  /** Of a record that is listed. */
  readonly listed: (edges: readonly Edge[]) => void;
  /** Of any other, as long as `isWanting`. */
  readonly other: (edges: readonly Edge[]) => void;
  readonly isWanting: () => boolean;
};
