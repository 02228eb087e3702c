import { hash } from 'node:crypto';
import { type Place, splitPlace } from '../../snapshot/sources/index.ts';

/**
 * The usual name of a place's table in SQL: `files`, `files_reports`. It has no capitals and no `-`, which would need
 * quotes.
 */
function tableNameOf(place: Place): string {
  const { source, name } = splitPlace(place);
  const words = [source, ...(name === undefined ? [] : [name])];
  return words.join('_').replaceAll('-', '_').toLowerCase();
}

/** The name of a narrowed snapshot's table if another place has the usual name. */
const otherTableNameOf = (place: Place): string =>
  `${tableNameOf(place)}_${hash('sha256', place).slice(0, 6)}`;

/** The name of a place's table, different from the names of the tables of all other `places`. */
export function tableNameAmong(place: Place, places: readonly Place[]): string {
  const plain = tableNameOf(place);
  const isAlone = places.every((other) => other === place || tableNameOf(other) !== plain);
  return isAlone || plain.endsWith(`_${splitPlace(place).name}`) ? plain : otherTableNameOf(place);
}

/** The name of each place's table. */
export const tableNames = (places: readonly Place[]): ReadonlyMap<Place, string> =>
  new Map(places.map((place) => [place, tableNameAmong(place, places)]));

/** The name of the Glue table over the Parquet files of a place's published runs. The place's views read it. */
export const glueTableOf = (place: Place): string => `stored_${tableNameOf(place)}`;

/** The name of a narrowed snapshot's Glue table if another place has the usual name. */
export const otherGlueTableOf = (place: Place): string => `stored_${otherTableNameOf(place)}`;

/** The partition keys of these Glue tables: the components of a run's folder, in order. */
export const gluePartitionKeys = ['dt', 'run'] as const;
