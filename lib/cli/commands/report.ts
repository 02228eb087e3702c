import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText } from '../../base/index.ts';
import { findReport, printReport, REPORT_PAGE_KEY } from '../../report/index.ts';
import { type Environment, readSyncSettings } from '../../settings.ts';
import { linkToObject, missingObject, type Store } from '../../store/index.ts';
import { writeTextFile } from '../../text/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { oneGiven, UsageError } from '../errors/usage-error.ts';
import { checkWritable } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { DEFAULT_LINK_HOURS } from '../options/options.ts';
import {
  type CommandResult,
  counted,
  duration,
  type ExitStatus,
  shown,
  type Terminal,
} from '../terminal/terminal.ts';
import { throttledNow } from '../texts/current-rate.ts';

/** Writes the report as an HTML file, or prints a link to the stored report. Needs only the store. */
export default (async (_, { link, hours, ...flags }, terminal) => {
  oneGiven({ '--link': link, '--open': flags.open });
  oneGiven({ '--link': link, '--output': flags.output });
  oneGiven({ '--link': link, '--at': flags.at });
  if (hours !== undefined && !link) throw new UsageError('--hours needs --link');
  return link
    ? linkToReport({ hours: hours ?? DEFAULT_LINK_HOURS, json: flags.json }, terminal)
    : writeReport(flags, terminal);
}) satisfies Run<'report'>;

/** Writes the report to a file. Returns `incomplete` if an object of the store could not be read. */
export async function writeReport(
  { open, output = 'report.html', json, at }: Pick<FlagsOf<'report'>, 'open' | 'output' | 'json' | 'at'>,
  terminal: Terminal,
  opener: typeof openFile = openFile,
): Promise<ExitStatus | CommandResult> {
  const { environment, signal, out, err } = terminal;
  const isPrinted = output === '-';
  if (isPrinted && (open || json))
    throw new UsageError(
      `${open ? '--open' : '--json'} needs a file: expected --output FILE, got standard output (-)`,
    );
  if (!isPrinted) await checkWritable(output);
  const store = await openStoreOf(terminal, at);
  const report = await printFor(store, at, terminal);
  const { page, facts } = report;
  const { snapshots, faults } = facts;
  for (const fault of faults) err(shown(`platform-sync: ${fault}`));
  if (snapshots.length === 0)
    throw new Error(
      `nothing has been published in ${store.location}: first take a snapshot, such as platform-sync snapshot calculations`,
    );
  const ended = faults.length === 0 ? 'done' : 'incomplete';
  if (isPrinted) {
    out(page.toString().trimEnd());
    return ended;
  }
  await writeTextFile(output, () => linesOf(page), { isGzipped: false, signal });
  const opened: Opened | undefined = open && (await opener(resolve(output), environment));
  if (opened?.kind === 'not-opened')
    err(shown(`platform-sync: ${output} was written, but could not be opened: ${opened.reason}`));
  return {
    json: asJson(output, report, opened?.kind === 'opened'),
    words: describe(output, report),
    ended,
  };
}

/** Builds the report. For a past day, throttling and cost are missing, since they are known only for today. */
function printFor(store: Store, at: number | undefined, { environment, signal, err }: Terminal) {
  const { PLATFORM_LINKS: links, PLATFORM_PRICES: prices } = readSyncSettings(environment);
  if (at !== undefined)
    return printReport({ store, links, now: () => at, isPast: true, signal, throttled: async () => [] });
  // If the table cannot be read, the report is written without throttling.
  const throttled = () =>
    throttledNow(environment).catch((error: unknown) => {
      err(shown(`platform-sync: it is unknown whether calls are throttled: ${errorText(error)}`));
      return [];
    });
  return printReport({ store, links, prices, now: Date.now, isPast: false, signal, throttled });
}

async function* linesOf(page: Buffer): AsyncGenerator<string> {
  yield page.toString();
}

const asJson = (
  output: string,
  { page, facts, figures }: Awaited<ReturnType<typeof printReport>>,
  opened: boolean,
) => ({
  output,
  bytes: page.byteLength,
  opened,
  runs: facts.snapshots.map(({ place, run, startedAt, records }) => ({
    source: place,
    run,
    startedAt: new Date(startedAt).toISOString(),
    records,
  })),
  narrowed: facts.narrowed,
  faults: facts.faults,
  ...figures,
});

/** Describes what was written. */
function describe(
  output: string,
  { page, facts: { snapshots, narrowed, writtenAt } }: Awaited<ReturnType<typeof printReport>>,
): readonly string[] {
  const ago = (ms: number) => duration(Math.max(0, Math.ceil((writtenAt - ms) / 1_000)));
  return [
    `${output}: ${Math.ceil(page.byteLength / 1_000).toLocaleString('en')} KB, to be opened in a browser`,
    ...snapshots.map(
      ({ place, run, records, startedAt }) =>
        `  ${place}: ${counted(records, 'record')} of run ${run}, started ${ago(startedAt)} ago`,
    ),
    ...narrowed.map(
      ({ source, places }) => `  no run of all ${source} is published: the page shows ${places.join(', ')}`,
    ),
  ];
}

type Opened = { readonly kind: 'opened' } | { readonly kind: 'not-opened'; readonly reason: string };

/** The command that opens a file on `platform` (as in `process.platform`); or the reason why it cannot be opened. */
export function openerFor(
  platform: string,
  file: string,
  environment: Environment,
): { readonly command: string; readonly args: readonly string[] } | { readonly reason: string } {
  if (platform === 'darwin') return { command: 'open', args: [file] };
  // Unlike `start`, this is not a shell command, which would interpret `&` and `%` in the name.
  if (platform === 'win32') return { command: 'rundll32', args: ['url.dll,FileProtocolHandler', file] };
  const hasScreen = ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME'].some((name) => environment[name]);
  if (!hasScreen)
    return { reason: 'this machine has no screen (neither DISPLAY nor WAYLAND_DISPLAY is set)' };
  return { command: 'xdg-open', args: [file] };
}

/** Opens a file with the machine's default program. Never throws. */
async function openFile(file: string, environment: Environment): Promise<Opened> {
  const opener = openerFor(process.platform, file, environment);
  if ('reason' in opener) return { kind: 'not-opened', ...opener };
  const child = spawn(opener.command, opener.args, { detached: true, stdio: 'ignore' });
  child.unref();
  return once(child, 'spawn').then(
    () => ({ kind: 'opened' }),
    (error: Error) => ({ kind: 'not-opened', reason: error.message }),
  );
}

/** A link to the stored report. */
type ReportLink = {
  readonly link: string;
  /** The latest time until which the link works, as ISO 8601; null for a file. */
  readonly until: string | null;
  /** Whether the link was signed with temporary credentials, so that it may stop working earlier. */
  readonly isTemporary: boolean;
};

/**
 * Creates a link to the report in the store that works for `hours` (`report --link`). Throws `StoredObjectError` if
 * there is no report.
 */
export async function linkToReport(
  { hours, json }: { readonly hours: number; readonly json?: true | undefined },
  terminal: Terminal,
  now: () => number = Date.now,
): Promise<CommandResult> {
  const store = await openStoreOf(terminal);
  const report = await findReport(store);
  if (report === undefined) throw missingObject(store, REPORT_PAGE_KEY, EXPECTED);
  const file = await store.fileOf?.(REPORT_PAGE_KEY);
  const link = file
    ? { link: pathToFileURL(file.path).href, until: null, isTemporary: false }
    : await linkInStore(store, hours, terminal, now);
  const writtenAt = new Date(report.value.writtenAt).toISOString();
  if (!json) for (const line of remarksOn(link, report.value, now())) terminal.err(line);
  return { json: { ...link, writtenAt, runs: report.value.runs }, words: link.link };
}

const EXPECTED =
  'the report, which the function write-report writes within ten minutes of a publication (platform-sync report writes one here)';

async function linkInStore(
  { location }: Store,
  hours: number,
  { environment }: Terminal,
  now: () => number,
): Promise<ReportLink> {
  const signed = await linkToObject(location, REPORT_PAGE_KEY, { seconds: hours * 3_600, environment });
  if (signed === undefined) throw missingObject({ location }, REPORT_PAGE_KEY, 'a file');
  const { url, credentialsEnd, isTemporary } = signed;
  const untilMs = Math.min(now() + hours * 3_600_000, credentialsEnd?.getTime() ?? Number.POSITIVE_INFINITY);
  return { link: url, until: new Date(untilMs).toISOString(), isTemporary };
}

function remarksOn(
  { until, isTemporary }: ReportLink,
  { writtenAt }: { readonly writtenAt: number },
  nowMs: number,
): readonly string[] {
  const age = duration(Math.max(0, Math.round((nowMs - writtenAt) / 1_000)));
  if (until === null) return [`written ${age} ago`];
  return [
    `written ${age} ago; anyone with the link can read it until ${until.slice(0, 16).replace('T', ' ')} UTC`,
    ...(isTemporary
      ? ['your credentials are temporary: if they expire earlier, the link stops working then']
      : []),
  ];
}
