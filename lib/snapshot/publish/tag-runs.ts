import { StoreError } from '../../store/error.ts';
import type { Store } from '../../store/store.ts';
import { printStored } from '../../store/stored-json.ts';
import { foldersOf, type Place, publishedFolder, workFolder } from '../keys.ts';
import { type Manifest, readLatest } from '../manifest.ts';
import { type Run, runOfId } from '../run-id.ts';
import { LATEST_AGAIN, REPLACED, RUN_TAG } from './run-tag.ts';
import type { Warn } from './warn.ts';

export type TagOptions = { readonly store: Store; readonly place: Place; readonly warn: Warn };

/** A run that `latest.json` named until it was moved to the other one. */
export type Replacement = { readonly replaced: Run; readonly by: Pick<Run, 'id'> };

/**
 * Tags a run that was replaced, so that the lifecycle of runs may expire it: the newest never has this tag. May be
 * repeated. A store that refuses does not fail the publication, which it follows: false, and the run stays.
 */
export async function tagReplaced(
  { store, place, warn }: TagOptions,
  { replaced, by }: Replacement,
): Promise<boolean> {
  if (store.tagAll === undefined || replaced.id === by.id) return true;
  try {
    await tagRun(store, place, replaced, REPLACED);
    // Somebody may have forced it meanwhile.
    if ((await readLatest(store, place))?.run === replaced.id)
      await tagRun(store, place, replaced, LATEST_AGAIN);
    await store.put(recordKey(place, { replaced, by }), printStored({ tagged: replaced.id }));
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    warn(`run ${replaced.id} of ${place} was replaced but could not be tagged, so it will not expire`, error);
    return false;
  }
}

/**
 * Does the same for the run that a published one was compared with, unless it is recorded that it was done: its
 * publisher may have been stopped before it.
 */
export async function tagReplacedOnce(options: TagOptions, { run, changes }: Manifest): Promise<void> {
  if (options.store.tagAll === undefined || changes === null) return;
  const replacement = { replaced: runOfId(changes.against), by: { id: run } };
  const recorded = await options.store.get(recordKey(options.place, replacement));
  if (recorded === undefined) await tagReplaced(options, replacement);
}

/** Takes the tag from a run that was replaced and is to be the newest again, before `latest.json` names it. */
export async function tagLatestAgain({ store, place, warn }: TagOptions, run: Run): Promise<void> {
  try {
    await tagRun(store, place, run, LATEST_AGAIN);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    warn(`run ${run.id} of ${place} may still have the tag of a replaced run, and expire`, error);
  }
}

async function tagRun(store: Store, place: Place, run: Run, value: string): Promise<void> {
  for (const prefix of foldersOf(publishedFolder(place, run)))
    await store.tagAll?.(prefix, { name: RUN_TAG, value });
}

/** Where it is recorded that a run was tagged. */
const recordKey = (place: Place, { replaced, by }: Replacement) =>
  `${workFolder(place, by)}publish/tagged-${replaced.id}.json`;
