import { defineCommand } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { numberOption } from '../options/options.ts';

/** The longest that S3 takes: seven days. */
const MOST_LINK_HOURS = 168;
const LINK_HOURS = 24;

/** `report`: one HTML file over all that is stored. Needs only the store, not the platform. */
export const report = defineCommand({
  does: 'Write one HTML page over the last published runs, what changed, batches and jobs.',
  options: [
    ['--open', 'open the page with what this machine opens HTML with'],
    ['--output <file>', 'where to write it, or - for standard output', String, 'report.html'],
    ['--link', 'print a link to the report in the store, for people without credentials'],
    [
      '--hours <n>',
      `how long the link works (default: ${LINK_HOURS}; at most ${MOST_LINK_HOURS})`,
      numberOption(1, MOST_LINK_HOURS),
    ],
    ['--json', 'print what was written, or the link, as one JSON value'],
  ],
  conflicts: { link: ['open', 'output'] },
  examples: ['report --open', 'report --output weekly.html', 'report --json', 'report --link --hours 168'],
  async run(_, { link, hours, ...flags }, terminal) {
    if (hours !== undefined && !link) throw new UsageError('--hours: expected only with --link');
    if (link) {
      const { linkToReport } = await import('../report/link-to-report.ts');
      return linkToReport({ hours: hours ?? LINK_HOURS, json: flags.json }, terminal);
    }
    const { runReport } = await import('../report/run-report.ts');
    return runReport(flags, terminal);
  },
});
