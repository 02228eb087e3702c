import type { Platform } from '../../../platform/client.ts';
import { compareIds } from '../../../platform/id.ts';
import type { CalculationRow } from '../../../platform/records.ts';

/** A calculation is not as it was expected to be; nothing was sent. */
export class ChangedError extends Error {
  override readonly name = 'ChangedError';
}

export type ChangeGuard = {
  readonly platform: Platform;
  readonly id: string;
  readonly name: string;
  readonly sinceMs: number;
  readonly signal: AbortSignal;
};

/**
 * Throws `ChangedError` if a calculation was changed after `sinceMs` (epoch milliseconds), or if the search by its name does not find
 * its id. The check and the update that follows are two calls: somebody may come between them.
 */
export async function refuseIfChanged({ platform, id, name, sinceMs, signal }: ChangeGuard): Promise<void> {
  const row = await findCalculation({ platform, id, name, signal });
  if (row === undefined)
    throw new ChangedError(
      `calculation ${id}: expected to be found by the name ${JSON.stringify(name)}, got no such row; nothing was sent`,
    );
  const changedMs = typeof row.lastModified === 'string' ? Date.parse(row.lastModified) : row.lastModified;
  if (changedMs !== null && changedMs <= sinceMs) return;
  const changed = changedMs === null ? 'at a time that is not known' : `at ${changedMs}`;
  throw new ChangedError(
    `calculation ${id}: expected unchanged since ${sinceMs}, got changed ${changed}; nothing was sent`,
  );
}

async function findCalculation({
  platform,
  id,
  name,
  signal,
}: Omit<ChangeGuard, 'sinceMs'>): Promise<CalculationRow | undefined> {
  const search = { name, sort: { field: 'id', ascending: true } };
  for await (const page of platform.calculations.pages(search, { signal })) {
    const row = page.rows.find((each) => compareIds(each.id, id) === 0);
    if (row !== undefined) return row;
  }
  return undefined;
}
