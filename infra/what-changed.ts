import { glueTableOf, type Source, sourceDefinitions, sources } from '../lib/contract.ts';
import type { SavedQuery } from './saved-query.ts';

/** What changed in all sources since a week ago: a saved query made from the definitions of the sources. */
export const whatChangedThisWeek = (): SavedQuery => ({
  name: 'what-changed-this-week',
  description: DESCRIPTION,
  sql: `WITH
${sources.map(pairsOf).join(',\n')}
SELECT source, change, of_set, id, name, fields
FROM (
${sources.map((source) => `  SELECT * FROM ${glueTableOf(source)}_pairs`).join('\n  UNION ALL\n')}
) AS pair
WHERE fields IS NULL OR fields <> ''
ORDER BY source, change, of_set, name, id`,
});

const DESCRIPTION = `What was added, removed or changed since a week ago, in all sources, with the fields that differ. The \
latest run is compared with the last run from at least seven days earlier, or with the first run if there is none. \
${[...fieldsOf('volatile'), ...fieldsOf('sets')].join('; ')}.`;

/** The fields of all sources that are not compared as they are, in words. */
function fieldsOf(kind: 'volatile' | 'sets'): readonly string[] {
  const fields = sources.flatMap((source) => sourceDefinitions[source].records[kind]);
  return fields.map((field) =>
    kind === 'sets' ? `the order of ${field} is ignored` : `${field} differs in each run and is not compared`,
  );
}

/** Three named queries: the days of a source's runs, the two runs that are compared, and the records that differ. */
function pairsOf(source: Source): string {
  const table = glueTableOf(source);
  const { key, label } = sourceDefinitions[source].records;
  const [id, name] = [key.id.toLowerCase(), label.toLowerCase()];
  return `${table}_days AS (
  SELECT run, CAST(dt AS date) AS taken, max(CAST(dt AS date)) OVER () AS latest
  FROM "${table}$partitions"
),
${table}_runs AS (
  SELECT
    max(run) AS now,
    coalesce(max(run) FILTER (WHERE taken <= latest - INTERVAL '7' DAY), min(run)) AS before
  FROM ${table}_days
),
${table}_pairs AS (
  SELECT
    '${source}' AS source,
    CASE WHEN old.${id} IS NULL THEN 'added' WHEN now.${id} IS NULL THEN 'removed' ELSE 'changed' END AS change,
    ${key.owner === undefined ? 'CAST(NULL AS varchar)' : firstOf([...ownersIn('now', key.owner), ...ownersIn('old', key.owner)])} AS of_set,
    coalesce(now.${id}, old.${id}) AS id,
    coalesce(now.${name}, old.${name}) AS name,
    CASE WHEN old.${id} IS NOT NULL AND now.${id} IS NOT NULL THEN concat_ws(
      ', ',
${comparedColumns(source).join(',\n')}
    ) END AS fields
  FROM (SELECT * FROM ${table} WHERE run = (SELECT now FROM ${table}_runs)) AS now
  FULL JOIN (SELECT * FROM ${table} WHERE run = (SELECT before FROM ${table}_runs)) AS old
    ON ${key.owner === undefined ? '' : `${firstOf(ownersIn('now', key.owner))} = ${firstOf(ownersIn('old', key.owner))} AND `}now.${id} = old.${id}
)`;
}

const ownersIn = (side: 'now' | 'old', owner: readonly string[]): readonly string[] =>
  owner.map((column) => `${side}.${column.toLowerCase()}`);

const firstOf = (columns: readonly string[]): string =>
  columns.length === 1 ? columns.join() : `coalesce(${columns.join(', ')})`;

/**
 * A term for each column that is compared: its name if it differs. Columns that the scan adds begin with `_`; a timestamp
 * is another form of a column that is compared.
 */
function comparedColumns(source: Source): readonly string[] {
  const { columns, records } = sourceDefinitions[source];
  const { key, volatile, sets } = records;
  const skipped = [key.id, ...volatile];
  return Object.entries(columns)
    .filter(([column, type]) => type !== 'timestamp' && !column.startsWith('_') && !skipped.includes(column))
    .map(([column]) => {
      const [now, old] = ['now', 'old'].map((side) => {
        const value = `${side}.${column.toLowerCase()}`;
        return sets.includes(column) ? `array_sort(array_distinct(${value}))` : value;
      });
      const line = `CASE WHEN ${now} IS DISTINCT FROM ${old} THEN '${column}' END`;
      return (
        INDENT + (line.length <= LONGEST_LINE ? line : line.replaceAll(/ (?=WHEN|THEN|END)/g, breakBefore))
      );
    });
}

const INDENT = ' '.repeat(6);
/** Characters in a line for people to read. */
const LONGEST_LINE = 120;

function breakBefore(_space: string, at: number, line: string): string {
  const word = line.slice(at + 1, at + 5);
  return `\n${INDENT}${word === 'WHEN' ? '  ' : word === 'THEN' ? '    ' : ''}`;
}
