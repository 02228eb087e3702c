import { type CalculationRow, compareIds, type Platform, timeMs } from '../../../platform/index.ts';
import { JobRefusedError } from '../../send-context.ts';

type CalculationToFind = {
  readonly platform: Pick<Platform, 'calculations'>;
  readonly id: string;
  /** Narrows the search by a name. Default: all calculations are read, in the order of their ids, up to this one. */
  readonly name?: string | undefined;
  readonly signal: AbortSignal;
};

/**
 * Finds a calculation by a search, since the platform has no other way. `degraded`: rows may be missing from the
 * responses, so an undefined row proves nothing.
 */
export async function findCalculation({
  platform,
  id,
  name,
  signal,
}: CalculationToFind): Promise<{ readonly row: CalculationRow | undefined; readonly degraded: boolean }> {
  const search = { sort: { field: 'id', ascending: true }, ...(name === undefined ? {} : { name }) };
  let isDegraded = false;
  for await (const { rows, degraded } of platform.calculations.pages(search, { signal })) {
    const row = rows.find((each) => compareIds(each.id, id) === 0);
    isDegraded ||= degraded;
    if (row !== undefined) return { row, degraded: isDegraded };
    const first = rows.at(0);
    const last = rows.at(-1);
    const isInOrder = first !== undefined && last !== undefined && compareIds(first.id, last.id) <= 0;
    if (isInOrder && compareIds(last.id, id) > 0) break;
  }
  return { row: undefined, degraded: isDegraded };
}

/**
 * Throws `JobRefusedError` of the kind `changed` if a calculation was changed after `sinceMs` (epoch milliseconds), or
 * if the search by its name does not find its id. Another user may still change it between this check and the update.
 */
export async function refuseIfChanged({
  sinceMs,
  ...calculation
}: CalculationToFind & { readonly sinceMs: number }): Promise<void> {
  const { id, name } = calculation;
  const { row } = await findCalculation(calculation);
  if (row === undefined)
    throw changed(
      `calculation ${id}: a search for the name ${JSON.stringify(name)} did not find it; nothing was sent`,
    );
  const changedMs = timeMs(row.lastModified);
  if (changedMs <= sinceMs) return;
  throw changed(
    `calculation ${id} was changed at ${timeWords(changedMs)}, after unlessChangedSince (${timeWords(sinceMs)}); nothing was sent`,
  );
}

/** A time in words. Epoch milliseconds beyond the range of a date are printed as they are. */
function timeWords(ms: number): string {
  if (Number.isNaN(ms)) return 'an unknown time';
  return Number.isNaN(new Date(ms).getTime()) ? String(ms) : new Date(ms).toISOString();
}

const changed = (message: string) => new JobRefusedError('changed', message);
