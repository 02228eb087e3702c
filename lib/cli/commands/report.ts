import { resolve } from 'node:path';
import { writeTextFile } from '../../jobs/texts/output/text-file.ts';
import type { ReportFacts } from '../../report/facts.ts';
import { figuresOf } from '../../report/figures.ts';
import { printReport } from '../../report/write-report.ts';
import { type FlagsOf, LINK_HOURS, type Run } from '../commands.ts';
import { UsageError } from '../errors/usage-error.ts';
import { checkWritable } from '../options/files.ts';
import { openStoreToRead } from '../options/from-settings.ts';
import { linkToReport } from '../report/link-to-report.ts';
import { type Opened, openFile } from '../report/open-file.ts';
import { counted, duration, exitCodes, inJson, shown, type Terminal } from '../terminal/terminal.ts';

/** One HTML file over all that is stored, or a link to the one in the store. Needs only the store, not the platform. */
export default (async (_, { link, hours, ...flags }, terminal) => {
  if (hours !== undefined && !link) throw new UsageError('--hours: expected only with --link');
  return link
    ? linkToReport({ hours: hours ?? LINK_HOURS, json: flags.json }, terminal)
    : writeReport(flags, terminal);
}) satisfies Run<'report'>;

/** Opens a file for somebody to see. */
export type OpenFile = (file: string, environment: Terminal['environment']) => Promise<Opened>;

/** Writes the report to a file, and returns the exit code: 3 if something of it could not be read. */
export async function writeReport(
  { open, output, json }: Pick<FlagsOf<'report'>, 'open' | 'output' | 'json'>,
  terminal: Terminal,
  opener: OpenFile = openFile,
): Promise<number> {
  const { environment, signal, out, err } = terminal;
  const isPrinted = output === '-';
  if (isPrinted && (open || json))
    throw new UsageError(
      `--output -: expected a file with ${open ? '--open' : '--json'}, got standard output`,
    );
  if (!isPrinted) await checkWritable(output);
  const store = await openStoreToRead(terminal);
  const { page, facts } = await printReport({ store, now: Date.now, signal });
  const { snapshots, faults } = facts;
  for (const fault of faults) err(shown(`platform-sync: ${fault}`));
  if (snapshots.length === 0)
    throw new Error(
      `nothing has been published in ${store.location}: first take a snapshot, such as platform-sync snapshot calculations`,
    );
  const code = faults.length === 0 ? exitCodes.done : exitCodes.incomplete;
  if (isPrinted) {
    out(page.toString().trimEnd());
    return code;
  }
  await writeTextFile(output, linesOf(page), { isGzipped: false, signal });
  const opened: Opened | undefined = open && (await opener(resolve(output), environment));
  if (json) out(inJson(asJson(output, page.byteLength, facts, opened?.kind === 'opened')));
  else for (const line of describe(output, page.byteLength, facts)) out(shown(line));
  if (opened?.kind === 'not-opened')
    err(shown(`platform-sync: ${output} is written, but not opened: ${opened.reason}`));
  return code;
}

async function* linesOf(page: Buffer): AsyncGenerator<string> {
  yield page.toString();
}

const asJson = (output: string, bytes: number, facts: ReportFacts, opened: boolean) => ({
  output,
  bytes,
  opened,
  runs: facts.snapshots.map(({ place, run, startedAt, records }) => ({
    source: place,
    run,
    startedAt: new Date(startedAt).toISOString(),
    records,
  })),
  narrowed: facts.narrowed,
  faults: facts.faults,
  ...figuresOf(facts),
});

/** What was written, in words. */
function describe(
  output: string,
  bytes: number,
  { snapshots, narrowed, writtenAt }: ReportFacts,
): readonly string[] {
  const ago = (ms: number) => duration(Math.max(0, Math.ceil((writtenAt - ms) / 1_000)));
  return [
    `${output}: ${Math.ceil(bytes / 1_000).toLocaleString('en')} KB, to be opened in a browser`,
    ...snapshots.map(
      ({ place, run, records, startedAt }) =>
        `  ${place}: ${counted(records, 'record')} of run ${run}, begun ${ago(startedAt)} ago`,
    ),
    ...narrowed.map(
      ({ source, places }) => `  no whole run of ${source} is published: the page shows ${places.join(', ')}`,
    ),
  ];
}
