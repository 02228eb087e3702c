import type { Store } from '../../store/store.ts';
import { printStored } from '../../store/stored-json.ts';
import { foldersOf, type Place, publishedFolder, TAG_BEGUN_NAME, TAGGED_NAME } from '../keys.ts';
import { readLatest } from '../manifest.ts';
import type { Run } from '../run-id.ts';
import { LATEST_AGAIN, REPLACED, RUN_TAG } from './run-tag.ts';

export type RunToTag = { readonly store: Store; readonly place: Place; readonly run: Run };

/**
 * Tags all that is stored of a run that is not the newest, so that the lifecycle of runs may expire it. It is recorded
 * for good that this was begun (`TAG_BEGUN_NAME`), before anything is tagged: whoever finds that of the newest run takes
 * the tags from it. That all is tagged is recorded last (`TAGGED_NAME`).
 */
export async function tagReplaced({ store, place, run }: RunToTag): Promise<void> {
  if (store.tagAll === undefined) return;
  const folder = publishedFolder(place, run);
  await store.put(`${folder}${TAG_BEGUN_NAME}`, printStored({ run: run.id }));
  await tagRun({ store, place, run }, REPLACED);
  // Somebody may have published it again meanwhile.
  if ((await readLatest(store, place))?.run === run.id) return untag({ store, place, run });
  const tag = { name: RUN_TAG, value: REPLACED };
  await store.put(`${folder}${TAGGED_NAME}`, printStored({ run: run.id }), { tag });
}

/** Takes the tags from a run that is to be the newest, or is, if it was ever begun to give it any. May be repeated. */
export async function untagLatest({ store, place, run }: RunToTag): Promise<void> {
  if (store.tagAll === undefined) return;
  if ((await store.get(`${publishedFolder(place, run)}${TAG_BEGUN_NAME}`)) !== undefined)
    await untag({ store, place, run });
}

async function untag({ store, place, run }: RunToTag): Promise<void> {
  await store.delete(`${publishedFolder(place, run)}${TAGGED_NAME}`);
  await tagRun({ store, place, run }, LATEST_AGAIN);
}

async function tagRun({ store, place, run }: RunToTag, value: string): Promise<void> {
  for (const prefix of foldersOf(publishedFolder(place, run)))
    await store.tagAll?.(prefix, { name: RUN_TAG, value });
}
