import { printStored, type Store } from '../../store/index.ts';
import {
  foldersOf,
  LATEST_AGAIN,
  type Place,
  publishedFolder,
  REPLACED,
  RUN_TAG,
  TAGGED_NAME,
} from '../keys.ts';
import { readLatest } from '../manifest.ts';
import type { Run } from '../run-id.ts';

type RunToTag = { readonly store: Store; readonly place: Place; readonly run: Run };

/** Tags all that is stored of a replaced run, so that the lifecycle may expire it. Recorded last (`TAGGED_NAME`). */
export async function tagReplaced({ store, place, run }: RunToTag): Promise<void> {
  if (store.tagAll === undefined) return;
  await tagRun({ store, place, run }, REPLACED);
  // Somebody may have published it again meanwhile.
  if ((await readLatest(store, place))?.run === run.id) return untagLatest({ store, place, run });
  const tag = { name: RUN_TAG, value: REPLACED };
  await store.put(`${publishedFolder(place, run)}${TAGGED_NAME}`, printStored({ run: run.id }), { tag });
}

/** Takes the tags from a run that was replaced before, and is to be the newest, or is. May be repeated. */
export async function untagLatest({ store, place, run }: RunToTag): Promise<void> {
  if (store.tagAll === undefined) return;
  await store.delete(`${publishedFolder(place, run)}${TAGGED_NAME}`);
  await tagRun({ store, place, run }, LATEST_AGAIN);
}

async function tagRun({ store, place, run }: RunToTag, value: string): Promise<void> {
  for (const prefix of foldersOf(publishedFolder(place, run)))
    await store.tagAll?.(prefix, { name: RUN_TAG, value });
}
