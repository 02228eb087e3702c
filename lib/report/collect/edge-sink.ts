import type { Use } from '../../model/rules/index.ts';

/** Takes the edges of records while a run is read again. */
export type EdgeSink = {
  /** Of a record that is listed. */
  readonly listed: (edges: readonly Use[]) => void;
  /** Of any other, as long as `isWanting`. */
  readonly other: (edges: readonly Use[]) => void;
  readonly isWanting: () => boolean;
};
