/**
 * Queries with parameters for common questions, to be used like tables: `SELECT * FROM where_used('1036')`. Ids and
 * days may be strings, numbers or dates.
 */
export const macros: readonly {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly about: string;
  readonly sql: string;
}[] = [
  {
    name: 'broken_links',
    parameters: [],
    about: 'uses of the latest runs whose link is broken, with the thing whose record states it',
    sql: `SELECT stater_kind, stater_id, user_kind, user_id, relation, used_kind, used_id, validity
FROM uses
WHERE broken
ORDER BY stater_kind, stater_id, used_kind, used_id, user_kind, user_id`,
  },
  {
    name: 'where_used',
    parameters: ['id_'],
    about: 'what uses a thing with this id directly; the command where-used follows any number of steps',
    sql: `SELECT used_kind, user_kind, user_id, relation, validity
FROM uses
WHERE used_id = CAST(id_ AS VARCHAR) AND NOT (user_kind = used_kind AND user_id = used_id)
ORDER BY used_kind, user_kind, user_id`,
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
    about: 'the latest calculations that have not changed since a day, the longest untouched first',
    sql: `SELECT id, name, owner, status, lastmodified_at
FROM calculations
WHERE lastmodified_at < CAST(day AS TIMESTAMP) AND NOT coalesce(archived, false)
ORDER BY lastmodified_at, id`,
  },
  {
    name: 'failed_jobs',
    parameters: ['day'],
    about: 'jobs since a day that failed, or whose outcome is unknown',
    sql: `SELECT dt, type, id, status, attempts, startedat, finishedat, error
FROM jobs
WHERE dt >= left(CAST(day AS VARCHAR), 10) AND status <> 'done'
ORDER BY finishedat, id`,
  },
];
