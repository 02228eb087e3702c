import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Summary } from '../../jobs/texts/batch/finish-batch.ts';
import { writeScoredFile } from '../../jobs/texts/output/scored-file.ts';
import type { OutputFormat } from '../../jobs/texts/output/text-file.ts';
import type { InputOptions } from '../../jobs/texts/rows/read-rows.ts';
import { errorCode, type Store } from '../../store/index.ts';
import type { FlagsOf } from '../commands.ts';
import { UsageError } from '../errors/usage-error.ts';
import { commandLine } from '../options/command-lines.ts';
import { checkedOutputFile } from '../options/output-file.ts';
import { shown, type Terminal } from '../terminal/terminal.ts';

export type ScoreFlags = FlagsOf<'score'>;

/** How the rows of a file are read. */
export const rowsOptions = (
  file: string,
  { text, id, columns, encoding, separator, skipEmpty }: ScoreFlags,
): InputOptions => ({ name: file, text, id, columns, encoding, separator, skipEmpty });

/** The command line that resumes the batch: what has been scored is not paid for again. */
export function resumeCommandOf(flags: ScoreFlags & { readonly file: string }, batch: string): string {
  const { file, topic = [], columns, skipEmpty, text, id, instructions, model, ...rest } = flags;
  const topics = topic.map(({ topic: name, description }) =>
    description === undefined ? name : `${name}=${description}`,
  );
  const { maxCalls, encoding, separator, output } = rest;
  return commandLine(['score', file], {
    ...{ skipEmpty, text, id, topic: topics, instructions, model, columns: columns?.join(',') },
    ...{ maxCalls, encoding, separator, output, batch },
  });
}

/** The rows are read more than once, so a pipe cannot be used. Throws `UsageError`. */
export async function checkFile(file: string): Promise<void> {
  const got = await stat(file).then(
    (stats) => (stats.isFile() ? undefined : 'something else'),
    (error: unknown) => errorCode(error) ?? 'unknown',
  );
  if (got !== undefined)
    throw new UsageError(`${file}: expected a file that can be read more than once, got ${got}`);
}

/** The format of `--output`, which is checked before anything is paid for. Throws `UsageError`. */
export async function checkedOutput(
  file: string,
  output: string | undefined,
): Promise<OutputFormat | undefined> {
  if (output === undefined) return undefined;
  const format = await checkedOutputFile(output);
  const [input, there] = await Promise.all([stat(file), stat(output).catch(() => undefined)]);
  if (there !== undefined && there.ino === input.ino && there.dev === input.dev)
    throw new UsageError(
      `--output ${output}: expected another file than the one that is scored, got the same`,
    );
  return format;
}

/** What was written to `--output`. */
export type WrittenOutput = { readonly file: string; readonly rows: number };

/** Writes `--output` if it is given. */
export async function writeOutput(
  summary: Summary,
  { store }: { readonly store: Pick<Store, 'get' | 'location'> },
  flags: ScoreFlags & { readonly file: string; readonly outputFormat: OutputFormat | undefined },
  { err, signal }: Terminal,
): Promise<WrittenOutput | undefined> {
  const { output: file, outputFormat: format, file: source } = flags;
  if (file === undefined || format === undefined) return undefined;
  err(shown(`all rows are scored; writing ${file}`));
  const rows = await writeScoredFile(summary, {
    file,
    format,
    open: () => createReadStream(source),
    rows: rowsOptions(source, flags),
    topics: (flags.topic ?? []).map(({ topic }) => topic),
    store,
    signal,
  });
  return { file, rows };
}
