/** A query with parameters, which SQL calls as a table: `SELECT * FROM where_used('1036')`. */
export type Macro = {
  readonly name: string;
  readonly parameters: readonly string[];
  /** What it returns, in one line. */
  readonly about: string;
  readonly sql: string;
};

/** What people ask often. Ids and days may be given as text, numbers or dates. */
export const macros: readonly Macro[] = [
  {
    name: 'broken_links',
    parameters: [],
    about: 'links of the latest calculations that are not valid, one row each',
    sql: `SELECT id, name, owner, link.resource.type AS kind, link.resource.id AS target, link.valid AS validity
FROM (SELECT id, name, owner, unnest(links) AS link FROM calculations)
WHERE upper(link.valid) <> 'VALID'
ORDER BY name, id, kind, target`,
  },
  {
    name: 'where_used',
    parameters: ['id_'],
    about: 'what uses a calculation, dataset or other thing with this id, in the latest runs',
    sql: `WITH link AS (
  SELECT id, name, upper(link.resource.type) AS kind, link.resource.id AS target
  FROM (SELECT id, name, unnest(links) AS link FROM calculations)
)
SELECT DISTINCT used_by, id, name
FROM (
  SELECT 'calculation' AS used_by, id, name FROM link WHERE target = CAST(id_ AS VARCHAR) AND id <> CAST(id_ AS VARCHAR)
  UNION ALL
  SELECT 'calculation', id, name FROM calculations
  WHERE list_contains(functiontemplatedependencies, CAST(id_ AS VARCHAR)) AND id <> CAST(id_ AS VARCHAR)
  UNION ALL
  SELECT 'card', link.target, cards.title FROM link LEFT JOIN cards ON cards.id = link.target
  WHERE link.kind = 'CARD' AND link.id = CAST(id_ AS VARCHAR)
  UNION ALL
  SELECT 'card', id, title FROM cards WHERE coalesce(_datasetid, datasourceid) = CAST(id_ AS VARCHAR)
)
ORDER BY used_by, name, id`,
  },
  {
    name: 'changed_since',
    parameters: ['day'],
    about: 'what runs since a day (2026-11-01) found added, removed or changed',
    sql: `SELECT dt, place, change, key, fields, run
FROM changes
WHERE dt >= left(CAST(day AS VARCHAR), 10)
ORDER BY dt, place, run, change, key`,
  },
  {
    name: 'history_of',
    parameters: ['id_'],
    about: 'all changes of the record with this id, the oldest first, with the record before and after',
    sql: `SELECT dt, place, change, key, fields, before, after, run
FROM changes
WHERE key = CAST(id_ AS VARCHAR) OR key LIKE '%/' || CAST(id_ AS VARCHAR)
ORDER BY run, place, key`,
  },
  {
    name: 'untouched_since',
    parameters: ['day'],
    about: 'the latest calculations that nobody has changed since a day, the longest untouched first',
    sql: `SELECT id, name, owner, status, lastmodified_at
FROM calculations
WHERE lastmodified_at < CAST(day AS TIMESTAMP) AND NOT coalesce(archived, false)
ORDER BY lastmodified_at, id`,
  },
  {
    name: 'failed_jobs',
    parameters: ['day'],
    about: 'jobs since a day that failed, or of which nobody knows how they ended',
    sql: `SELECT dt, type, id, status, attempts, startedat, finishedat, error
FROM jobs
WHERE dt >= left(CAST(day AS VARCHAR), 10) AND status <> 'done'
ORDER BY finishedat, id`,
  },
];
