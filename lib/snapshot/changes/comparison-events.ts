/** Which of the two runs. */
export type RunSide = 'before' | 'after';

/** What a comparison tells of itself while it goes on. */
export type ComparisonEvent =
  /** A key came again in one run: the later record counts. A comparison that starts again tells it again. */
  | { readonly kind: 'repeated-key'; readonly side: RunSide; readonly key: string }
  /** The runs are not in key order and are compared in passes. */
  | { readonly kind: 'not-in-key-order'; readonly reason: string }
  /** What a pass holds after each record that it took. Bytes by estimate. */
  | { readonly kind: 'held'; readonly records: number; readonly bytes: number }
  /** A pass is over; 1 is the first. */
  | { readonly kind: 'pass'; readonly pass: number; readonly records: number };

/** Takes notice of an event; what it throws ends the comparison. */
export type ObserveComparison = (event: ComparisonEvent) => void;
