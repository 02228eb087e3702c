import { hash } from 'node:crypto';
import { type Place, splitPlace } from '../../snapshot/sources/index.ts';

/**
 * The name of a place's tables in SQL: `files`, `files_reports`. It has neither capitals nor `-`, which would
 * need quotes.
 */
function tableNameOf(place: Place): string {
  const { source, name } = splitPlace(place);
  const words = [source, ...(name === undefined ? [] : [name])];
  return words.join('_').replaceAll('-', '_').toLowerCase();
}

/** The name of a narrowed snapshot's tables, if another place already has its name. */
const otherTableNameOf = (place: Place): string =>
  `${tableNameOf(place)}_${hash('sha256', place).slice(0, 6)}`;

/** The name of a place's tables, which differs from those of all other places. */
export function tableNameAmong(place: Place, places: readonly Place[]): string {
  const plain = tableNameOf(place);
  const isAlone = places.every((other) => other === place || tableNameOf(other) !== plain);
  return isAlone || plain.endsWith(`_${splitPlace(place).name}`) ? plain : otherTableNameOf(place);
}

export const tableNames = (places: readonly Place[]): ReadonlyMap<Place, string> =>
  new Map(places.map((place) => [place, tableNameAmong(place, places)]));

/** The Glue table of the Parquet of a place's published runs, from which the place's SQL views read. */
export const glueTableOf = (place: Place): string => `stored_${tableNameOf(place)}`;

/** The Glue table of a narrowed snapshot, if another place already has its name. */
export const otherGlueTableOf = (place: Place): string => `stored_${otherTableNameOf(place)}`;

/** The partition keys of these tables: the components of a run's folder, in order. */
export const gluePartitionKeys = ['dt', 'run'] as const;
