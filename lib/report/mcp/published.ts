import { shortened } from '../../base/index.ts';
import { type LastRun, lastRuns } from '../../model/index.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/index.ts';
import { ToolError } from './tool.ts';

const MOST_FAULTS = 5;
const LONGEST_FAULT = 300;

/** What is missing or damaged, as a result holds it. */
export const shownFaults = (faults: readonly string[]): string[] =>
  faults.slice(0, MOST_FAULTS).map((fault) => shortened(fault, LONGEST_FAULT));

/** Of more places, the others are searched too. */
const MOST_PLACES = 50;

type SearchedRun = { readonly place: string; readonly run: string; readonly records: number };

/** Runs that were searched. */
export const shownRuns = (runs: readonly SearchedRun[]): readonly SearchedRun[] =>
  runs.slice(0, MOST_PLACES).map(({ place, run, records }) => ({ place, run, records }));

/** The last published runs of these sources. Throws `ToolError` that says what to do if there are none. */
export async function publishedOf(store: Store, wanted: readonly Source[]): Promise<readonly LastRun[]> {
  const { runs } = await lastRuns(store, wanted);
  if (runs.length === 0) throw nothingPublished(store, `nothing of ${wanted.join(', ')}`, wanted[0]);
  return runs;
}

export const nothingPublished = ({ location }: Store, what: string, source = 'calculations') =>
  new ToolError(
    `${what} has been published in ${location}: check SYNC_STORE, or take a snapshot with platform-sync snapshot ${source}`,
  );
