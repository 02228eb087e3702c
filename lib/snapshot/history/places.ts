import type { Store } from '../../store/index.ts';
import { type Place, parsePlace } from '../keys.ts';
import { sources } from '../sources/sources.ts';

/** Every place that has a run in the store, published or not: source by source, its own place first. */
export async function placesIn(store: Store): Promise<readonly Place[]> {
  const found = new Set<Place>();
  for (const source of sources) {
    const names: string[] = [];
    for (const folder of ['', 'work/'])
      for await (const key of store.folders(`${folder}${source}`)) names.push(key.slice(folder.length));
    for (const name of names.sort()) {
      const place = parsePlace(name);
      if (place !== undefined) found.add(place);
    }
  }
  return [...found];
}
