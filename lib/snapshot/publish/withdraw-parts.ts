import { printStored, type Store, StoreError } from '../../store/index.ts';
import type { Warn } from '../history/clear-work.ts';
import {
  changesSeriesOf,
  isManifestKey,
  type Place,
  publishedFolder,
  seriesOf,
  workFolder,
} from '../keys.ts';
import type { Manifest } from '../manifest.ts';
import type { Run } from '../run-id.ts';

export type PartsToWithdraw = {
  readonly store: Store;
  readonly place: Place;
  readonly run: Run;
  /** The series of this publication. */
  readonly series: number;
  /** The publication of the run that `latest.json` names, and the key of its manifest. Default: another run is named. */
  readonly published?: { readonly key: string; readonly manifest: Manifest } | undefined;
  readonly warn: Warn;
};

/**
 * Deletes the parts and changes in a run's folders that belong to no publication: they were stored before the run was
 * superseded, refused or compared with another one, or by a slower publisher of the same run. A glob would find them.
 *
 * Another publisher of the run may be about to use them. So it is recorded first that this series is withdrawn, and
 * nothing is deleted if there is a manifest after that; a publisher stores its manifest first, and does not move
 * `latest.json` if its series is withdrawn after that (`seriesToPublish`). Whichever comes first, at least one of the two
 * sees the other. It then takes the next series, whose parts have other names: however late a deletion is, it finds none.
 *
 * A store that refuses costs a warning; the next publication of the run deletes them.
 */
export async function withdrawParts(options: PartsToWithdraw): Promise<void> {
  const { store, place, run, series, warn } = options;
  try {
    if ((await strayParts(options)).length === 0) return;
    await store.put(`${markers(place, run)}${series}.json`, printStored({ withdrawn: series }));
    for (const key of await strayParts(options)) await store.delete(key);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    warn(`parts of run ${run.id} of ${place} that are in no manifest could not be deleted`, error);
  }
}

/** What belongs to no publication; none as long as there is a manifest to which it may belong. */
async function strayParts({ store, place, run, series, published }: PartsToWithdraw) {
  const { parts = [], changes } = published?.manifest ?? {};
  const named = new Set([...parts, ...(changes ? [changes] : [])].map(({ key }) => key));
  const strays: string[] = [];
  const folder = publishedFolder(place, run);
  for (const prefix of [folder, `changes/${folder}`])
    for await (const { key } of store.list(prefix)) {
      if (isManifestKey(key) && key !== published?.key) return [];
      const found = seriesOf(key) ?? changesSeriesOf(key);
      if (found !== undefined && found <= series && !named.has(key)) strays.push(key);
    }
  return strays;
}

/** The series in which a run is to be published: 1, or the one after the last that was withdrawn. */
export async function seriesToPublish(store: Store, place: Place, run: Run): Promise<number> {
  const folder = markers(place, run);
  let last = 0;
  for await (const { key } of store.list(folder)) {
    const [series] = /^\d{1,6}(?=\.json$)/.exec(key.slice(folder.length)) ?? [];
    last = Math.max(last, Number(series ?? 0));
  }
  return last + 1;
}

/** Where it is recorded which series are withdrawn. */
const markers = (place: Place, run: Run) => `${workFolder(place, run)}publish/withdrawn-`;
