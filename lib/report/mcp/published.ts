import { type LastRun, lastRuns } from '../../model/index.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/index.ts';
import { ToolError } from './tool.ts';

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
