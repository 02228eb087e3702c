import { Option } from 'commander';
import type { AddCommand } from '../command.ts';
import { numberOption } from '../options.ts';
import type { ReportFlags } from '../report/run-report.ts';
import { UsageError } from '../usage-error.ts';

/** The longest that S3 takes: seven days. */
const MOST_LINK_HOURS = 168;
const LINK_HOURS = 24;

type LinkFlags = { readonly link?: true; readonly hours?: number };

/** `report`: one HTML file over all that is stored. Needs only the store, not the platform. */
export const addReport: AddCommand = (program, terminal, finish) => {
  program
    .command('report')
    .description('Write one HTML page over the last published runs, what changed, batches and jobs.')
    .option('--open', 'open the page with what this machine opens HTML with')
    .option('--output <file>', 'where to write it, or - for standard output', 'report.html')
    .addOption(
      new Option(
        '--link',
        'print a link to the report in the store, for people without credentials',
      ).conflicts(['open', 'output']),
    )
    .option(
      '--hours <n>',
      `how long the link works (default: ${LINK_HOURS}; at most ${MOST_LINK_HOURS})`,
      numberOption(1, MOST_LINK_HOURS),
    )
    .option('--json', 'print what was written, or the link, as one JSON value')
    .action(async ({ link, hours, ...flags }: ReportFlags & LinkFlags) => {
      if (hours !== undefined && !link) throw new UsageError('--hours: expected only with --link');
      // Loaded only when it is needed, so that the other commands start without it.
      if (link) {
        const { linkToReport } = await import('../report/link-to-report.ts');
        return finish(await linkToReport({ hours: hours ?? LINK_HOURS, json: flags.json }, terminal));
      }
      const { runReport } = await import('../report/run-report.ts');
      finish(await runReport(flags, terminal));
    });
};
