import { checkJobFile, type EndedCounts, type JobFile, OTHER_CONTENT } from '../../jobs/index.ts';
import { readAllow } from '../../jobs/types/index.ts';
import { moneyFor } from '../../prices.ts';
import { readSyncSettings } from '../../settings.ts';
import type { OddRows } from '../../text/index.ts';
import { oneGiven, UsageError } from '../errors/usage-error.ts';
import { refuseLost } from '../formula/change-set.ts';
import { confirmedEncoding, jsonOf, readText } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import {
  counted,
  firstOf,
  number,
  oddLines,
  shown,
  shownLines,
  type Terminal,
} from '../terminal/terminal.ts';

type JobFileOptions = Parameters<typeof checkJobFile>[0];

/** Reads and checks all jobs of a file, and prints warnings about them. Throws `UsageError` with every fault. */
export async function checkedJobs(
  /** `file`: the file of jobs, or with a template the CSV from whose rows they are built. */
  options: Pick<JobFileOptions, 'file' | 'text' | 'name' | 'encoding' | 'separator' | 'wholeRows'> & {
    readonly template?: string;
    /** False: formulas may be replaced even if that cannot be undone. */
    readonly undo?: boolean;
  },
  /**
   * `undone`: what was not done with the jobs, such as `sent`. `isChecked`: their formulas have already been
   * checked.
   */
  parts: Pick<JobFileOptions, 'ids'> & { readonly undone: string; readonly isChecked?: true },
  terminal: Terminal,
): Promise<JobFile> {
  const { undone, isChecked, ...checks } = parts;
  const { template, undo = true, ...flags } = options;
  const { file, text, name, separator, wholeRows } = flags;
  const allow = readAllow(readSyncSettings(terminal.environment).SYNC_ALLOW);
  const json = template === undefined ? {} : { template: await readTemplate(template, terminal) };
  const { signal } = terminal;
  const encoding = text === undefined ? await confirmedEncoding(file, flags.encoding, terminal) : undefined;
  const checked = await checkJobFile({
    file,
    text,
    name,
    encoding,
    separator,
    wholeRows,
    ...json,
    ...checks,
    allow,
    signal,
  });
  if (!('faults' in checked)) {
    if (!isChecked) warnOf(file, checked.warnings, terminal);
    reportOdd(file, checked.odd, terminal);
    const remedy = 'To set them anyway: --no-undo';
    if (undo && !isChecked)
      await refuseLost(() => openStoreOf(terminal), checked.replaced, { undone, remedy });
    return checked;
  }
  const [where, expected] =
    checked.in === 'template'
      ? [template, `a job with columns of ${file}`]
      : [file, template === undefined ? `one job per line${csvHint(file)}` : 'a job for each row'];
  const faults = checked.faults.map((fault) => `  ${fault}`).join('\n');
  throw new UsageError(`${where}: expected ${expected}; nothing was ${undone}:\n${faults}`);
}

/** Prints warnings about what the platform may refuse. */
export function warnOf(file: string, lines: readonly string[], { err }: Terminal): void {
  const first = firstOf(lines, MAX_WARNINGS).join('\n');
  if (first !== '') err(shownLines(`${file}: the platform may refuse:\n${first}`));
}

/** Prints which rows of a file do not match its header. */
export function reportOdd(file: string, odd: OddRows, { err }: Terminal): void {
  for (const line of oddLines(odd)) err(shown(`${file}: ${line}`));
}

/** Maximum warnings: the first fifty, and the line with the number of further warnings. */
const MAX_WARNINGS = 51;

const csvHint = (file: string) =>
  /\.[ct]sv(\.gz)?$/i.test(file) ? ' (the rows of a CSV need --from-csv and --template)' : '';

/** Reads the template of a job. Throws `UsageError` unless it is JSON. */
async function readTemplate(file: string, terminal: Terminal): Promise<unknown> {
  const value = jsonOf(await readText(file, terminal));
  if (value !== undefined) return value;
  throw new UsageError(
    `--template ${file}: expected a job as JSON, such as {"type": "run-function", …}, got invalid JSON`,
  );
}

/** Lines about how jobs are identified, and how many of them had already ended. */
export function setWords(name: string | undefined, before: EndedCounts | undefined): readonly string[] {
  const known =
    name === undefined
      ? 'a job is identified by its id, or without an id by its template and row. To run all jobs again: --name NAME'
      : `set ${name}: to run all jobs again, use another --name`;
  if (before === undefined) return [known];
  const { otherContent } = before;
  const refused = otherContent === 0 ? [] : [`${number(otherContent)} would be refused: ${OTHER_CONTENT}`];
  return [known, `${endedWords(before)}; jobs that have ended do not run again`, ...refused];
}

/** Words for jobs that had ended before: `3 had ended before, between … and …`. */
export function endedWords({ ended, firstMs, lastMs }: EndedCounts): string {
  if (ended === 0) return '0 had ended before';
  const at = (ms: number) => new Date(ms).toISOString().replace(/\.\d+/, '');
  const when = firstMs === lastMs ? `, at ${at(firstMs)}` : `, between ${at(firstMs)} and ${at(lastMs)}`;
  return `${number(ended)} had ended before${when}`;
}

/** How many jobs had already ended, for JSON. */
export const endedFacts = (before: EndedCounts | undefined) => ({
  hadEndedBefore: before?.ended ?? null,
  ...(before === undefined || before.ended === 0
    ? {}
    : { endedFrom: new Date(before.firstMs).toISOString(), endedTo: new Date(before.lastMs).toISOString() }),
});

/** The maximum cost of the jobs of a file that have not ended. */
export function maxCost({ calls }: JobFile, before: EndedCounts | undefined, { environment }: Terminal) {
  const left = Object.entries(calls).map(([type, of]) => [type, of - (before?.calls[type] ?? 0)]);
  return moneyFor(readSyncSettings(environment).PLATFORM_PRICES, Object.fromEntries(left));
}

/** The lines of a dry run: the first jobs, if they were built from rows, and the number of jobs. */
export const dryRunWords = (count: number, first: readonly string[], noun: string, done: string) => [
  ...first,
  ...(first.length > 0 && count > first.length ? [`and ${counted(count - first.length, noun)} more`] : []),
  `${counted(count, noun)} would be ${done}; nothing was ${done}`,
];

/** The file of the jobs: a file of jobs, or a CSV. Throws `UsageError` unless exactly one was given. */
export function fileOfJobs(
  command: string,
  file: string | undefined,
  { fromCsv, template }: { readonly [name in 'fromCsv' | 'template']?: string | undefined },
): string {
  oneGiven({ 'a file of jobs': file, '--from-csv': fromCsv }, 'needed');
  if ((fromCsv === undefined) !== (template === undefined))
    throw new UsageError(
      `${command}: expected both --from-csv and --template, got only ${fromCsv === undefined ? '--template' : '--from-csv'}`,
    );
  return file ?? fromCsv ?? '-';
}
