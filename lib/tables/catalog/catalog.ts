import type { Place } from '../../snapshot/keys.ts';
import { tableNameAmong } from './glue-tables.ts';
import { otherViews } from './other-views.ts';
import { recordViews } from './record-views.ts';
import type { View } from './view.ts';

/** All tables of SQL over a store with these places, in the order in which they are listed. */
export const viewsOver = (places: readonly Place[]): readonly View[] => [
  ...[...tableNames(places)].flatMap(([place, name]) => recordViews(place, name)),
  ...otherViews,
];

/** The names of the tables of places. */
export const tableNames = (places: readonly Place[]): ReadonlyMap<Place, string> =>
  new Map(places.map((place) => [place, tableNameAmong(place, places)]));
