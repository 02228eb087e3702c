/** Which of the two runs. */
export type RunSide = 'before' | 'after';

/** What a comparison reports while it runs. */
export type ComparisonEvent =
  /** A key was repeated in one run: the last record wins. A comparison that restarts reports it again. */
  | { readonly kind: 'repeated-key'; readonly side: RunSide; readonly key: string }
  /** A run is not in key order, so the runs are compared by the hashes of their keys. */
  | { readonly kind: 'not-in-key-order'; readonly reason: string }
  /** What a pass holds in memory after each record that it added. Bytes are estimated. */
  | { readonly kind: 'held'; readonly records: number; readonly bytes: number }
  /** A pass has finished; 1 is the first. */
  | { readonly kind: 'pass'; readonly pass: number; readonly records: number };

/** Called with each event; if it throws, the comparison ends. */
export type ObserveComparison = (event: ComparisonEvent) => void;
