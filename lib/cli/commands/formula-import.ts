import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { judgeFormula } from '../../formula/index.ts';
import { formulasOfJob, hasEnded, readFormulaList } from '../../jobs/types/index.ts';
import { storeImport } from '../../model/formulas/index.ts';
import { TextError } from '../../text/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { fileError, oneGiven, UsageError, unknownJob } from '../errors/usage-error.ts';
import { MAX_LINES } from '../formula/change-set.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { checkFile, confirmedEncoding } from '../options/files.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { counted, firstOf, shown, type Terminal } from '../terminal/terminal.ts';

/** Stores the text of formulas. Rows with faults are reported, and the exit code is 3; all other rows are imported. */
export default (async ([file], { fromJob, ...flags }, terminal) => {
  oneGiven({ FILE: file, '--from-job': fromJob }, 'needed');
  const store = await openStoreOf(terminal);
  const { list, ...from } =
    fromJob === undefined
      ? { list: await listOf(file ?? '-', flags, terminal), atMs: Date.now() }
      : await listOfJob(fromJob, terminal);
  const { formulas, empty, faulty, faults } = list;
  for (const fault of firstOf(faults, MAX_LINES)) terminal.err(shown(fault));
  if (formulas.length === 0 && faulty === 0)
    throw fileError(file ?? `--from-job ${fromJob}`, 'formulas to import', 'none');
  const invalid = formulas.flatMap(({ id, name, expression }) =>
    judgeFormula(
      expression,
      `calculation ${id}${name === null ? '' : ` ${JSON.stringify(name)}`}`,
    ).faults.slice(0, 1),
  );
  for (const fault of firstOf(invalid, MAX_LINES)) terminal.err(shown(fault));
  const key = await storeImport(store, async () => formulas, { ...from, signal: terminal.signal });
  return {
    json: { key: key ?? null, formulas: formulas.length, invalid: invalid.length, empty, faulty },
    words: [
      `${counted(formulas.length, 'formula')} imported${invalid.length === 0 ? '' : `; ${counted(invalid.length, 'formula')} cannot be parsed, so ${invalid.length === 1 ? 'its' : 'their'} columns are unknown`}`,
      ...(empty === 0 ? [] : [`${counted(empty, 'row')} without a formula`]),
      ...(faulty === 0 ? [] : [`${counted(faulty, 'row')} not imported`]),
    ],
    ended: faulty === 0 ? 'done' : 'incomplete',
  };
}) satisfies Run<'formula import'>;

async function listOf(
  file: string,
  flags: Omit<FlagsOf<'formula import'>, 'fromJob' | 'json'>,
  terminal: Terminal,
) {
  if (file === '-')
    return readFormulaList(Readable.from([await terminal.readInput()]), { ...flags, name: 'standard input' });
  await checkFile(file);
  const encoding = await confirmedEncoding(file, flags.encoding, terminal);
  return readFormulaList(createReadStream(file), { ...flags, name: file, encoding });
}

/** The list that the function of a job returned. `atMs`: when the job was started, in epoch milliseconds. */
async function listOfJob(id: string, terminal: Terminal) {
  const { ledger } = await openJobs(terminal);
  const row = await ledger.read(id);
  const expected = (got: string) =>
    new UsageError(`--from-job ${id}: expected a run-function job that is done, got ${got}`);
  if (row === undefined) {
    const { message } = await unknownJob(id, ledger);
    throw expected(`an id that is ${message.slice(message.indexOf('not in the ledger'))}`);
  }
  if ((row.type ?? 'run-function') !== 'run-function') throw expected(`a job of the type ${row.type}`);
  if (!hasEnded(row)) throw expected('one that has not ended');
  const { status, error } = row.outcome;
  try {
    const list = await formulasOfJob(await openStoreOf(terminal), row);
    return { list, job: id, atMs: row.startedAt ?? row.createdAt };
  } catch (cause) {
    if (!(cause instanceof TextError)) throw cause;
    throw expected(
      status === 'done' ? cause.message : `one that is ${status}${error ? `: ${error.message}` : ''}`,
    );
  }
}
