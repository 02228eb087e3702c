import type { InputFound } from '../rows/input.ts';
import type { ScoreRequest } from './batch.ts';
import type { SourceRow } from './chunks.ts';

/** A bulk request: rows whose texts are to be scored. */
export type BatchRequest = {
  readonly batch: string;
  readonly request: ScoreRequest;
  /** Opens the rows from the beginning; may be called more than once, and must give the same rows each time. */
  readonly rows: () => AsyncIterable<SourceRow>;
  /** What the source was found to be, once its rows were read. */
  readonly input?: (() => InputFound | undefined) | undefined;
  /** The platform's host. */
  readonly host: string;
};
