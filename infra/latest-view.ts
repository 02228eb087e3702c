import { glueTableOf, type Source } from '../lib/contract.ts';
import type { SavedQuery } from './saved-query.ts';

/** The view of the latest published run of a source. */
export function latestView(source: Source): SavedQuery {
  const table = glueTableOf(source);
  return {
    name: `latest_${table}`,
    description:
      'The latest published run. It is looked up in the partitions, which reads no part and also finds a run without records.',
    sql: `SELECT *\nFROM ${table}\nWHERE run = (SELECT max(run) FROM "${table}$partitions")`,
  };
}
