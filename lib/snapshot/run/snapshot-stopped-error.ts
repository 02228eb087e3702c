import { errorText } from '../../base/index.ts';
import type { Place } from '../keys.ts';

/**
 * Thrown if a run stopped before it was published. The records read so far are saved; `--resume` with the run's name
 * continues it.
 */
export class SnapshotStoppedError extends Error {
  override readonly name = 'SnapshotStoppedError';
  readonly source: Place;
  readonly run: string;

  constructor(source: Place, run: string, cause: unknown) {
    super(errorText(cause), { cause });
    this.source = source;
    this.run = run;
  }
}
