import type { AddCommand } from '../command.ts';
import { numberOption } from '../options.ts';
import type { QueryFlags } from '../query/run-query.ts';

/** `query [SQL]`: SQL over what is stored. Needs only the store, not the platform. */
export const addQuery: AddCommand = (program, terminal, finish) => {
  program
    .command('query')
    .description('Run SQL over published runs, changes, jobs and scores, with DuckDB. Without SQL: a prompt.')
    .argument('[sql]', 'one SELECT, or - for standard input')
    .option('--saved [name]', 'run a saved query; without a name: list them')
    .option('--json', 'print the rows as one JSON value')
    .option('--csv', 'print the rows as CSV')
    .option('--parquet <file>', 'write the rows to a file of Parquet')
    .option('--seconds <n>', 'stop the query after so long', numberOption(1, 1e6))
    .option('--memory <mb>', 'megabytes of memory for DuckDB', numberOption(100, 1e6), 1_000)
    .option('--disk <gb>', 'gigabytes for temporary files', numberOption(0.1, 1e5, { whole: false }), 20)
    .action(async (sql: string | undefined, flags: QueryFlags) => {
      // Loaded only when it is needed, so that the other commands start without it.
      const { runQuery } = await import('../query/run-query.ts');
      finish(await runQuery(sql, flags, terminal));
    });
};
