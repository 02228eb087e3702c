import { printStored, type Store } from '../../store/index.ts';
import type { PublishedRun } from '../changes/published-runs.ts';
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

/** What is tagged of a published run: `isChanged` if something was stored since it was read. */
type RunAsItIs = RunToTag & {
  readonly is: 'latest' | 'replaced';
  readonly known: Pick<PublishedRun, 'isTagged' | 'wasReplaced'>;
  readonly isChanged: boolean;
};

/** Tags a run that was replaced, unless all of it has the tag; takes the tags from the latest. Throws `StoreError`. */
export async function tagAsItIs({ is, known, isChanged, ...run }: RunAsItIs): Promise<void> {
  if (is === 'latest') return known.wasReplaced ? untagLatest(run) : undefined;
  if (!known.isTagged || isChanged) await tagReplaced(run);
}

/** Deletes the record that all of a run has the tag, before something is stored that lacks it. */
export const forgetTagged = ({ store, place, run }: RunToTag): Promise<void> =>
  store.delete(`${publishedFolder(place, run)}${TAGGED_NAME}`);

/** Tags all that is stored of a replaced run, so that the lifecycle may expire it. Recorded last (`TAGGED_NAME`). */
async function tagReplaced({ store, place, run }: RunToTag): Promise<void> {
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
  await forgetTagged({ store, place, run });
  await tagRun({ store, place, run }, LATEST_AGAIN);
}

async function tagRun({ store, place, run }: RunToTag, value: string): Promise<void> {
  for (const prefix of foldersOf(publishedFolder(place, run)))
    await store.tagAll?.(prefix, { name: RUN_TAG, value });
}
