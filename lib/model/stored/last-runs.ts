import { placesIn } from '../../snapshot/history/places.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import { type Manifest, manifestOf, readLatest } from '../../snapshot/manifest.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';

/** The last published run of a place. */
export type LastRun = {
  readonly place: Place;
  readonly source: Source;
  readonly manifest: Pick<Manifest, 'run' | 'startedAt' | 'records' | 'parts' | 'missing' | 'selection'>;
  /** The key of its manifest. */
  readonly key: string;
};

/** Receives what is missing or damaged, in words, and the source that it is of. */
export type AddFault = (fault: string, source: Source) => void;

/**
 * The last published runs of some sources: those of a whole source, or if it has none, of all of its named places. What
 * is damaged goes to `addFault`, in words, and spoils no other.
 */
export async function lastRuns(
  store: Store,
  wanted: readonly Source[],
  addFault: AddFault,
): Promise<{ readonly runs: readonly LastRun[] }> {
  const runs: LastRun[] = [];
  let places: readonly Place[] | undefined;
  for (const source of wanted) {
    const whole = await lastRun(store, source, addFault);
    const found = whole === undefined ? [] : [whole];
    if (whole === undefined) {
      places ??= await placesIn(store);
      for (const place of places) {
        if (sourceOf(place) !== source || place === source) continue;
        const named = await lastRun(store, place, addFault);
        if (named !== undefined) found.push(named);
      }
    }
    runs.push(...found);
  }
  return { runs };
}

async function lastRun(store: Store, place: Place, addFault: AddFault): Promise<LastRun | undefined> {
  const source = sourceOf(place);
  const orFault = unlessDamaged((fault) => addFault(`${place}: ${fault}`, source));
  const latest = await readLatest(store, place).catch(orFault);
  if (latest === undefined) return undefined;
  const { run, manifest: key } = latest;
  const manifest = await manifestOf(store, key, { place, run }).catch(orFault);
  return manifest && { place, source, manifest, key };
}
