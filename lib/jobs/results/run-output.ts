import { lowerCase } from '../../model/rules/index.ts';
import type { Store } from '../../store/index.ts';
import { type CsvWishes, csvOutput, type OutputFormat, writeTextFile } from '../../text/index.ts';
import type { FileRow, JobFile } from '../file/job-file.ts';
import { OTHER_CONTENT } from '../job-advice.ts';
import { hasEnded } from '../ledger/job-row.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { responseOf } from '../result.ts';
import { csvLines, ndjsonLines, type RowToWrite } from '../texts/output/added-columns.ts';
import { readListed } from './read-listed.ts';

type RunOutputOptions = CsvWishes & {
  readonly file: string;
  /** The file of the jobs, or of their rows. */
  readonly parquetIdOf?: string | undefined;
  readonly format: OutputFormat;
  readonly ledger: Pick<Ledger, 'read'>;
  readonly store: Store;
};

const AT_ONCE = 16;

/**
 * Writes the row of each job of a file with its id, status, response (as JSON) and error; complete or not at all. Returns the
 * encoding.
 */
export async function writeRunOutput(jobs: JobFile, options: RunOutputOptions): Promise<string> {
  const { file, format, parquetIdOf } = options;
  const { encoding, isMarked } = format.format === 'csv' ? csvOutput(format, jobs, options) : {};
  const { isGzipped } = format;
  return writeTextFile(file, () => linesOf(jobs, options), { isGzipped, encoding, isMarked, parquetIdOf });
}

async function* linesOf(jobs: JobFile, options: RunOutputOptions): AsyncGenerator<string> {
  const { rows, csv } = jobs;
  const columns = csv?.names;
  const isCsv = options.format.format === 'csv';
  // A row of NDJSON has the id of its job among its members.
  const withId = columns !== undefined;
  const read = async (row: FileRow): Promise<RowToWrite> => {
    const { status, response, error } = await addedTo(row, options);
    const json = (text: string) => (isCsv || text === '' ? text : JSON.stringify(text));
    return {
      record: withId ? (row.fields ?? []) : row.body,
      added: [...(withId ? [json(row.id)] : []), json(status), response, json(error)],
    };
  };
  const found = readListed(rows(), { read, concurrency: AT_ONCE });
  const names = columns ?? ['id', 'type'];
  const added = [...(withId ? ['job_id'] : []), 'status', 'response', 'error'];
  if (isCsv) yield* csvLines(found, { ...csvOutput(options.format, jobs, options), names, added });
  else yield* ndjsonLines(found, { names, added });
}

async function addedTo({ id, contentHash }: FileRow, { ledger, store }: RunOutputOptions) {
  const row = await ledger.read(id);
  if (row?.contentHash !== undefined && row.contentHash !== contentHash)
    return { status: 'failed', response: '', error: OTHER_CONTENT };
  if (row === undefined || !hasEnded(row))
    return { status: lowerCase(row?.state) ?? '', response: '', error: '' };
  const { status, error, note } = row.outcome;
  const response = (await responseOf(store, row.outcome)) ?? '';
  return { status, response: response.replaceAll(/[\r\n]+/g, ' '), error: error?.message ?? note ?? '' };
}
