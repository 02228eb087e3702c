import { createReadStream } from 'node:fs';
import type { Summary } from '../../jobs/texts/batch/finish-batch.ts';
import { writeScoredFile } from '../../jobs/texts/output/scored-file.ts';
import type { OutputFormat } from '../../jobs/texts/output/text-file.ts';
import type { InputOptions } from '../../jobs/texts/rows/read-rows.ts';
import type { Store } from '../../store/index.ts';
import type { FlagsOf } from '../commands.ts';
import { commandLine } from '../options/command-lines.ts';
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
