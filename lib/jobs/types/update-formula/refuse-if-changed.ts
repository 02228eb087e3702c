import type { Platform } from '../../../platform/index.ts';
import { JobRefusedError } from '../../turn.ts';
import { findCalculation } from './find-calculation.ts';

export type ChangeGuard = {
  readonly platform: Platform;
  readonly id: string;
  readonly name: string;
  readonly sinceMs: number;
  readonly signal: AbortSignal;
};

/**
 * Throws `JobRefusedError` of the kind `changed` if a calculation was changed after `sinceMs` (epoch milliseconds), or
 * if the search by its name does not find its id. The check and the update after it are two calls: somebody may change
 * the calculation between them.
 */
export async function refuseIfChanged({ platform, id, name, sinceMs, signal }: ChangeGuard): Promise<void> {
  const { row } = await findCalculation({ platform, id, name, signal });
  if (row === undefined)
    throw changed(
      `calculation ${id}: expected a search for the name ${JSON.stringify(name)} to find it, got no such row; nothing was sent`,
    );
  const changedMs = typeof row.lastModified === 'string' ? Date.parse(row.lastModified) : row.lastModified;
  if (changedMs !== null && changedMs <= sinceMs) return;
  const when = changedMs === null ? 'at an unknown time' : `at ${changedMs}`;
  throw changed(`calculation ${id}: expected no change since ${sinceMs}, got one ${when}; nothing was sent`);
}

const changed = (message: string) => new JobRefusedError('changed', message);
