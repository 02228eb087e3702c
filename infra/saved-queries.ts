import { queriesOfFiles, type SavedQuery } from './saved-query.ts';
import { whatChangedThisWeek } from './what-changed.ts';

/** The saved queries, in the order of their names. */
export const savedQueries = (): readonly SavedQuery[] =>
  [...queriesOfFiles(), whatChangedThisWeek()].sort((a, b) => (a.name < b.name ? -1 : 1));
