import type { ScoreRequest } from './batch.ts';
import type { SourceRow } from './chunks.ts';

/** A bulk request: rows whose texts are to be scored. */
export type BatchRequest = {
  readonly batch: string;
  readonly request: ScoreRequest;
  /** Opens the rows from their beginning; called once or more, and must give the same each time. */
  readonly rows: () => AsyncIterable<SourceRow>;
  /** The platform's host. */
  readonly host: string;
};
