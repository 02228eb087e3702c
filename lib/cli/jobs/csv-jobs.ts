import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { parseJson } from '../../base/index.ts';
import type { Allow } from '../../jobs/allow.ts';
import { rowJobs } from '../../jobs/file/row-jobs.ts';
import { readTemplate } from '../../jobs/file/template.ts';
import { openTableFile } from '../../jobs/texts/rows/csv.ts';
import { RowsError } from '../../jobs/texts/rows/rows-error.ts';
import { errorCode } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { readText } from '../options/options.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type ReadJobs, readRowJobs } from './read-jobs.ts';

export type CsvFlags = {
  readonly fromCsv: string;
  readonly template: string;
  readonly encoding?: string;
  readonly separator?: string;
};

/** A job for each row of a CSV, or every fault in them. Throws `UsageError` for a file or template that cannot be used. */
export async function readCsvJobs(
  { fromCsv: file, template: templateFile, ...options }: CsvFlags,
  allow: Allow,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<ReadJobs> {
  const json = await readTemplateFile(templateFile, terminal);
  await stat(file).catch((error: unknown) => {
    throw new UsageError(`${file}: expected a file that can be read, got ${errorCode(error) ?? 'unknown'}`);
  });
  try {
    await using table = await openTableFile(createReadStream(file), {
      name: file,
      requested: [],
      ...options,
    });
    const template = readTemplate(json, table.names);
    if ('faults' in template)
      throw new UsageError(
        `${templateFile}: expected a job with columns of ${file}; nothing was sent:\n${template.faults.map((fault) => `  ${fault}`).join('\n')}`,
      );
    return await readRowJobs(rowJobs(table.rows(), { file, names: table.names, template }), allow);
  } catch (error) {
    if (error instanceof RowsError) throw new UsageError(`${file}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** A template. Throws `UsageError` unless it is JSON. */
export async function readTemplateFile(
  file: string,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<unknown> {
  const text = (await readText(file, terminal)).replace(/^\uFEFF/, '');
  try {
    return parseJson(text);
  } catch (cause) {
    throw new UsageError(
      `--template ${file}: expected a job as JSON, such as {"type": "run-function", …}, got invalid JSON`,
      { cause },
    );
  }
}

/** The file that a command takes jobs from. Throws `UsageError` unless it is one of jobs, or a CSV with a template. */
export function fileOfJobs(
  command: string,
  file: string | undefined,
  { fromCsv, template }: { readonly [name in 'fromCsv' | 'template']?: string | undefined },
): string {
  if ((file === undefined) === (fromCsv === undefined))
    throw new UsageError(
      `${command}: expected a file of jobs, or --from-csv, got ${file === undefined ? 'neither' : 'both'}`,
    );
  if ((fromCsv === undefined) !== (template === undefined))
    throw new UsageError(
      `${command}: expected --from-csv and --template together, got ${fromCsv === undefined ? '--template' : '--from-csv'} alone`,
    );
  return file ?? fromCsv ?? '-';
}
