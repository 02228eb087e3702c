import { Readable } from 'node:stream';
import { preview, shortened } from '../../../base/index.ts';
import { parseJson } from '../../../base/json/index.ts';
import { type ImportedFormula, storeImport } from '../../../model/formulas/index.ts';
import { idDigits } from '../../../platform/index.ts';
import { endOfExecution } from '../../../platform/operations/index.ts';
import type { Store } from '../../../store/index.ts';
import { TextError } from '../../../text/index.ts';
import type { EndedJobRow } from '../../ledger/job-row.ts';
import { responseOf } from '../../result.ts';
import { openRows, type RowsOptions } from '../../texts/rows/read-rows.ts';

/** The formulas of a list, at most one for each calculation, and the faults of the list. */
type FormulaList = {
  readonly formulas: readonly Omit<ImportedFormula, 'importedAt'>[];
  /** How many rows were ignored because their formula is empty or null. */
  readonly empty: number;
  readonly faulty: number;
  /** The first faults, a line each. */
  readonly faults: readonly string[];
};

const MAX_FAULTS = 50;

/** Maximum characters of all formulas of a list together, since they are in memory. */
const MAX_CHARACTERS = 200_000_000;

/** A formula of a list, with its first line and the number of its rows. */
type Listed = {
  readonly line: number;
  readonly rows: number;
  readonly of: Omit<ImportedFormula, 'importedAt'>;
};

/**
 * Reads a list of `{id, expression, name?, datasetId?}` as CSV, NDJSON or a JSON array. Several rows with the same
 * calculation and formula list several datasets of the calculation. If the rows of a calculation have different
 * formulas, none of them is used. Throws `TextError` if the bytes are not such a list.
 */
export async function readFormulaList(
  bytes: AsyncIterable<Uint8Array>,
  options: Pick<RowsOptions, 'name' | 'encoding' | 'separator' | 'wholeRows'>,
): Promise<FormulaList> {
  const found = new Map<string, Listed>();
  const contradicted = new Set<string>();
  const read = { empty: 0, faulty: 0, faults: [] as string[] };
  const refuse = (line: number, fault: string) => {
    read.faulty += 1;
    if (read.faults.length < MAX_FAULTS) read.faults.push(`line ${line}: ${fault}`);
  };
  const columns = { text: 'expression', id: 'id', optional: ['name', 'datasetId'] };
  await using source = await openRows(bytes, { ...options, ...columns });
  let characters = 0;
  for await (const { row } of source.rows()) {
    const id = idDigits(row.id);
    if ('fault' in row && row.isEmpty && id !== undefined) read.empty += 1;
    else if ('fault' in row) refuse(row.line, row.fault);
    else if (id === undefined)
      refuse(row.line, `id: expected the digits of an integer, got ${preview(row.id)}`);
    else {
      const { line, text: expression, columns: of } = row;
      const before = found.get(id);
      const datasetIds = [
        ...new Set([...(before?.of.datasetIds ?? []), ...(of['datasetId'] ? [of['datasetId']] : [])]),
      ];
      if (before !== undefined && before.of.expression !== expression) {
        contradicted.add(id);
        refuse(line, `calculation ${id} has another formula on line ${before.line}; neither is imported`);
        continue;
      }
      characters += expression.length;
      if (characters > MAX_CHARACTERS)
        throw new TextError(
          'format',
          `expected formulas of at most ${MAX_CHARACTERS} characters in total, got more`,
          { ...options, line },
        );
      const name = of['name'] || (before?.of.name ?? null);
      const rows = (before?.rows ?? 0) + 1;
      found.set(id, { line: before?.line ?? line, rows, of: { id, expression, name, datasetIds } });
    }
  }
  for (const id of contradicted) read.faulty += found.get(id)?.rows ?? 0;
  const formulas = Array.from(found.values(), ({ of }) => of).filter(({ id }) => !contradicted.has(id));
  return { formulas, ...read };
}

/**
 * The list that a code function returned, from its execution as JSON: a list of objects, or a string that contains such
 * a list. Throws `TextError`.
 */
async function formulasOf(execution: string | Buffer): Promise<FormulaList> {
  const { memberJson } = await import('../../../snapshot/history/index.ts');
  const body = Buffer.isBuffer(execution) ? execution : Buffer.from(execution);
  // The result of a job has an execution that is nested too deeply as a string, which does not begin with `{`.
  const members = body[0] === 0x7b ? memberJson(body, ['status', 'result'], ALL) : new Map<string, string>();
  const status = members.get('status') ?? 'null';
  const result = members.get('result') ?? 'null';
  if (endOfExecution(parseJson(status)) !== 'done')
    throw new TextError(
      'format',
      `expected a function that succeeded, got the status ${shortened(status, 100)}`,
    );
  const text = result.startsWith('"') ? String(parseJson(result)) : result;
  const name = 'the result';
  if (text === result && !text.startsWith('['))
    throw new TextError('format', `expected a list of {id, expression}, got ${preview(parseJson(text))}`, {
      name,
    });
  return readFormulaList(Readable.from([Buffer.from(text)]), { name, encoding: 'utf-8' });
}

const ALL = { maxBytes: Number.POSITIVE_INFINITY, isDeep: true };

/** What is wrong with the formulas that a function returned; undefined if all of them can be imported. */
export async function faultOfFormulas(execution: string | Buffer): Promise<string | undefined> {
  const { formulas, faulty, faults } = await formulasOf(execution).catch(asFault);
  if (faulty === 0) return formulas.length > 0 ? undefined : 'expected formulas, got none';
  return `${formulas.length} formulas are imported, and ${faulty} rows or lists are not, because they are invalid: ${faults.slice(0, 5).join('; ')}`;
}

/** Converts the error of something that is not a list into an empty list with one fault. */
function asFault(error: unknown): FormulaList {
  if (!(error instanceof TextError)) throw error;
  return { formulas: [], empty: 0, faulty: 1, faults: [error.message] };
}

/**
 * The formulas that the function of an ended job returned. Throws `TextError` if it did not return a list of formulas.
 */
export const formulasOfJob = async (
  store: Store,
  { outcome }: Pick<EndedJobRow, 'outcome'>,
): Promise<FormulaList> => formulasOf((await responseOf(store, outcome)) ?? '{}');

/**
 * Stores the formulas that a job's function returned, as of the start of the job. A repeat stores nothing new. Ignores a
 * result that is not a list.
 */
export async function importFormulas(store: Store, ended: EndedJobRow): Promise<void> {
  const { id: job, startedAt: atMs = ended.createdAt } = ended;
  await storeImport(store, async () => (await formulasOfJob(store, ended).catch(asFault)).formulas, {
    atMs,
    job,
  });
}
