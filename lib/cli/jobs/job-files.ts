import { readAllow } from '../../jobs/allow.ts';
import { checkJobFile, type JobFile, type JobFileOptions } from '../../jobs/file/job-file.ts';
import { RowsError } from '../../jobs/texts/rows/source-lines.ts';
import { readSyncSettings } from '../../settings.ts';
import { oneGiven, UsageError } from '../errors/usage-error.ts';
import { jsonOf, readText } from '../options/files.ts';
import { blankLines, counted, firstOf, shown, shownLines, type Terminal } from '../terminal/terminal.ts';

/** A file of jobs, or with a template the rows that they are made of. */
type JobFileFlags = Pick<JobFileOptions, 'file' | 'text' | 'encoding' | 'separator'> & {
  readonly template?: string;
};

/** What is made of the jobs. `undone`: what a fault prevents. `isQuiet`: their warnings are printed already. */
type Checks = Pick<JobFileOptions, 'ids'> & { readonly undone: string; readonly isQuiet?: true };

/** All jobs of a file, checked; prints what may be wrong with them. Throws `UsageError` with every fault. */
export async function checkedJobs(
  { template, ...flags }: JobFileFlags,
  { undone, isQuiet, ...checks }: Checks,
  terminal: Terminal,
): Promise<JobFile> {
  const { file, text, encoding, separator } = flags;
  const allow = readAllow(readSyncSettings(terminal.environment).SYNC_ALLOW);
  const json = template === undefined ? {} : { template: await readTemplate(template, terminal) };
  const { signal } = terminal;
  const checked = await checkJobFile({
    ...{ file, text, encoding, separator, ...json, ...checks, allow, signal },
  }).catch((error: unknown) => {
    if (error instanceof RowsError) throw new UsageError(`${file}: ${error.message}`, { cause: error });
    throw error;
  });
  if (!('faults' in checked)) {
    if (!isQuiet) warnOf(file, checked.warnings, terminal);
    reportBlank(file, checked.blank, terminal);
    return checked;
  }
  const [where, expected] =
    checked.in === 'template'
      ? [template, `a job with columns of ${file}`]
      : [file, template === undefined ? `one job per line${csvHint(file)}` : 'a job for each row'];
  const faults = checked.faults.map((fault) => `  ${fault}`).join('\n');
  throw new UsageError(`${where}: expected ${expected}; nothing was ${undone}:\n${faults}`);
}

/** Prints what the platform may refuse of a file. */
export function warnOf(file: string, lines: readonly string[], { err }: Terminal): void {
  const first = firstOf(lines, MOST_WARNINGS).join('\n');
  if (first !== '') err(shownLines(`${file}: the platform may refuse:\n${first}`));
}

/** Prints how many lines of a file are no rows. */
export function reportBlank(file: string, blank: number, { err }: Terminal): void {
  for (const line of blankLines(blank)) err(shown(`${file}: ${line}`));
}

/** Fifty, and how many more there are. */
const MOST_WARNINGS = 51;

const csvHint = (file: string) =>
  /\.[ct]sv(\.gz)?$/i.test(file) ? ' (the rows of a CSV need --from-csv and --template)' : '';

/** Throws `UsageError` unless the file of a template is JSON. */
async function readTemplate(file: string, terminal: Terminal): Promise<unknown> {
  const value = jsonOf(await readText(file, terminal));
  if (value !== undefined) return value;
  throw new UsageError(
    `--template ${file}: expected a job as JSON, such as {"type": "run-function", …}, got invalid JSON`,
  );
}

/** What a dry run says: the first jobs, where they were made of rows, and how many there are. */
export const dryRunWords = (count: number, first: readonly string[], noun: string, done: string) => [
  ...first,
  ...(first.length > 0 && count > first.length ? [`and ${counted(count - first.length, noun)} more`] : []),
  `${counted(count, noun)} would be ${done}; nothing was ${done}`,
];

/** The file that a command takes jobs from. Throws `UsageError` unless it is one of jobs, or a CSV with a template. */
export function fileOfJobs(
  command: string,
  file: string | undefined,
  { fromCsv, template }: { readonly [name in 'fromCsv' | 'template']?: string | undefined },
): string {
  oneGiven({ 'a file of jobs': file, '--from-csv': fromCsv }, 'needed');
  if ((fromCsv === undefined) !== (template === undefined))
    throw new UsageError(
      `${command}: expected --from-csv and --template together, got ${fromCsv === undefined ? '--template' : '--from-csv'} alone`,
    );
  return file ?? fromCsv ?? '-';
}
