/** How many changes are listed unless `--limit` says otherwise: for people, and for machines. */
export const LISTED = 20;
export const LISTED_JSON = 1_000;

/** How many dependents `where-used` lists for people. */
export const LISTED_DEPENDENTS = 50;
