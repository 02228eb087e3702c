import { constants, createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Summary } from '../jobs/texts/batch/finish-batch.ts';
import { type OutputFormat, outputFormat, writeScoredFile } from '../jobs/texts/output/scored-file.ts';
import { errorCode } from '../store/error-code.ts';
import type { Store } from '../store/store.ts';
import { rowsOptions, type ScoreFlags } from './score-command.ts';
import { shown, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

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
  const refuse = (expected: string, got: string) =>
    new UsageError(`--output ${output}: expected ${expected}, got ${got}`);
  const format = outputFormat(output);
  if (format === undefined)
    throw refuse('a name that ends in .csv, .tsv, .ndjson or .jsonl, with .gz or without', 'another one');
  const [input, there] = await Promise.all([stat(file), stat(output).catch(() => undefined)]);
  if (there !== undefined && there.ino === input.ino && there.dev === input.dev)
    throw refuse('another file than the one that is scored', 'the same');
  if (there !== undefined && !there.isFile()) throw refuse('a file', 'something else');
  const folder = dirname(output);
  await access(folder, constants.W_OK).catch((error: unknown) => {
    throw refuse('a file in a folder that can be written', errorCode(error) ?? 'unknown');
  });
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
