import { defineCommand } from '../command.ts';
import { numberOption } from '../options/options.ts';

/** `query [SQL]`: SQL over what is stored. Needs only the store, not the platform. */
export const query = defineCommand({
  does: 'Run SQL over published runs, changes, jobs and scores, with DuckDB. Without SQL: a prompt.',
  arguments: [['[sql]', 'one SELECT, or - for standard input']],
  options: [
    ['--saved [name]', 'run a saved query; without a name: list them'],
    ['--json', 'print the rows as one JSON value'],
    ['--csv', 'print the rows as CSV'],
    ['--parquet <file>', 'write the rows to a file of Parquet'],
    ['--seconds <n>', 'stop the query after so long', numberOption(1, 1e6)],
    ['--memory <mb>', 'megabytes of memory for DuckDB', numberOption(100, 1e6), 1_000],
    ['--disk <gb>', 'gigabytes for temporary files', numberOption(0.1, 1e5, { whole: false }), 20],
  ],
  examples: [
    'query "SELECT status, count(*) FROM calculations GROUP BY status"',
    'query --saved what-changed-this-week --csv',
    'query --saved',
  ],
  async run([sql], flags, terminal) {
    const { runQuery } = await import('../query/run-query.ts');
    return runQuery(sql, flags, terminal);
  },
});
