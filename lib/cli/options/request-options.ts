import { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import { listed, preview } from '../../base/index.ts';
import { checkMessage, type MessageChecks, type UncheckedMessage } from '../../jobs/types/index.ts';
import {
  requestRules,
  requestSchemasWith,
  type SnapshotRequest,
  type Source,
  sourceDefinitions,
} from '../../snapshot/sources/index.ts';
import { openTableFile, TextError } from '../../text/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { jsonOf, readText } from './files.ts';
import { parserOf, repeatable } from './options.ts';

/** The options that set the fields of a request, for messages. */
type FieldNames = Readonly<Partial<Record<string, string>>>;

/** An option of the command of a source. */
type RequestOption = (typeof sourceDefinitions)[Source]['options'][number];

/** The options of a source's command that select its records. */
export const requestOptions = (source: Source): readonly Option[] =>
  sourceDefinitions[source].options.map(optionOf);

/** The names of the source's options that the user typed. */
export const typedOptionNames = (command: Command, source: Source): readonly string[] =>
  typedOptions(command, source).map(({ name }) => name);

/** The request that the options describe, checked like a request in a message. Throws `UsageError` with every fault. */
export async function readRequest(
  command: Command,
  source: Source,
  { as, readInput }: { readonly as: string | undefined } & Pick<Terminal, 'readInput'>,
): Promise<{
  readonly request: SnapshotRequest;
  /** The file that the ids were read from, in words; undefined if they were typed. */
  readonly idsFrom: string | undefined;
}> {
  const fields: Record<string, unknown> = { source, ...(as === undefined ? {} : { as }) };
  let idsFrom: string | undefined;
  const all = typedOptions(command, source);
  const column = all.find(({ option }) => option.kind === 'column');
  if (column !== undefined && !all.some(({ option }) => option.kind === 'ids'))
    throw new UsageError(`${column.option.flags} needs the file that has this column`);
  for (const { option, value } of all) {
    if (option.kind === 'column') continue;
    if (option.field in fields)
      throw new UsageError(
        `${typedAs(source)[option.field]}: give the ids as options or in a file, not both`,
      );
    if (option.ids === undefined) {
      fields[option.field] = value;
      continue;
    }
    const named = column === undefined ? undefined : String(column.value);
    const read = await readIds(String(value), { ...option.ids, column: named }, { readInput });
    fields[option.field] = read.ids;
    idsFrom = read.from;
  }
  const checks = { schema: schemas[source], rules: requestRules };
  return { request: checkedMessage<SnapshotRequest>(checks, fields, typedAs(source)), idsFrom };
}

function typedOptions(
  command: Command,
  source: Source,
): readonly { readonly option: RequestOption; readonly name: string; readonly value: unknown }[] {
  return sourceDefinitions[source].options.flatMap((option) => {
    const name = optionOf(option).attributeName();
    if (command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    return [{ option, name, value }];
  });
}

function optionOf(option: RequestOption): Option {
  const made = new Option(option.flags, option.help);
  return option.kind === 'list' ? made.argParser(entryReader(option)) : made;
}

const entryReader = ({ entry }: RequestOption) =>
  repeatable(parserOf(entry?.expected ?? 'a string', (text): unknown => (entry ? entry.read(text) : text)));

/** The schemas without a limit on the number of ids, since no message is sent. */
const schemas = requestSchemasWith({}, 'unboundedFields');

/** The options that set the fields of a request, as they are typed: `--id or --ids-from`. */
function typedAs(source: Source): FieldNames {
  const ofFields = sourceDefinitions[source].options.filter(({ kind }) => kind !== 'column');
  const options = Object.groupBy(ofFields, ({ field }) => field);
  const flags = Object.entries(options).map(([field, of = []]) => [
    field,
    of.map((option) => optionOf(option).long).join(' or '),
  ]);
  return { as: '--as', ...Object.fromEntries(flags) };
}

/**
 * The message that a command's arguments describe, checked like one from the queue. `names`: the arguments
 * and options that set its fields. Throws `UsageError` with every fault.
 */
export function checkedMessage<Message>(
  checks: Pick<MessageChecks<Message>, 'schema' | 'rules'>,
  given: UncheckedMessage,
  names: FieldNames,
): Message {
  const checked = checkMessage(checks, given, names);
  if (checked.kind === 'faults') throw new UsageError(checked.faults.join('\n'));
  return checked.message;
}

type IdFormat = NonNullable<RequestOption['ids']> & {
  /** The column of a CSV. Default: the one with a usual name for such ids. */
  readonly column: string | undefined;
};

/**
 * Reads the ids in a file, or in standard input for `-`: one a line, or a column of a CSV. `from`: the file
 * and column in words. Throws `TextError` with the line of anything that is not an id.
 */
async function readIds(file: string, { column, ...format }: IdFormat, terminal: Pick<Terminal, 'readInput'>) {
  const name = file === '-' ? 'standard input' : file;
  // An id is ASCII, so the encoding of other columns does not matter.
  const text = await readText(file, terminal, { mayGuess: true });
  const first = text.split(/[\r\n]+/).find((line) => line.trim() !== '') ?? '';
  const isJson = /^[[{]/.test(first.trim());
  const isTable = column !== undefined || /[,;\t|]/.test(first) || format.columns.includes(plain(first));
  const found = isJson
    ? { ids: fromJson(text, name, { column, ...format }), from: name }
    : isTable
      ? await fromTable(text, name, { column, ...format })
      : { ids: linesOf(text), from: name };
  if (found.ids.length === 0)
    throw new TextError('format', `expected at least one id, one a line or in a column of a CSV, got none`, {
      name,
    });
  for (const { id, line } of found.ids)
    if (!format.isId(id))
      throw new TextError('format', `expected ${format.expected}, got ${JSON.stringify(id)}`, { name, line });
  return { ids: found.ids.map(({ id }) => id), from: found.from };
}

const linesOf = (text: string) =>
  text
    .split(/\r\n|\n|\r/)
    .map((line, at) => ({ id: line.trim().replace(/^"([^"]*)"$/, '$1'), line: at + 1 }))
    .filter(({ id }) => id !== '');

/** The ids of a JSON list, or of lines of JSON: ids, or objects that have one. */
function fromJson(text: string, name: string, { column, columns, flag, expected }: IdFormat) {
  const whole = jsonOf(text);
  const rows = Array.isArray(whole)
    ? whole.map((value: unknown) => ({ value, line: 1 }))
    : linesOf(text).map(({ id, line }) => ({ value: jsonOf(id), line }));
  return rows.map(({ value, line }) => {
    const members: Readonly<Record<string, unknown>> = Object(value);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const named = Object.keys(members).filter((each) => columns.includes(plain(each)));
    const [chosen = ''] = column !== undefined ? [column] : named.length === 1 ? named : [];
    const id = isObject ? members[chosen] : value;
    if (['string', 'number', 'bigint'].includes(typeof id)) return { id: String(id).trim(), line };
    const what = isObject
      ? `an object with ${listed(Object.keys(members))}: choose one with ${flag}`
      : preview(value);
    throw new TextError('format', `expected ${expected}, or an object that has it, got ${what}`, {
      name,
      line,
    });
  });
}

/** A column name in lower case, without anything but letters: `Data File ID` becomes `datafileid`. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');

async function fromTable(text: string, name: string, { column, columns, flag }: IdFormat) {
  const requested = column === undefined ? [] : [column];
  await using table = await openTableFile(Readable.from([Buffer.from(text)]), {
    name,
    requested,
    encoding: 'utf-8',
    // Lines need not be joined: a fragment of a text cannot be mistaken for an id.
    wholeRows: true,
  });
  const named = table.names.filter((each) => columns.includes(plain(each)));
  const [chosen = column] = column === undefined && named.length === 1 ? named : [];
  if (chosen === undefined)
    throw new TextError(
      'columns',
      `expected one id a line, or a CSV with one column of ids, got the columns ${listed(table.names)}: choose one with ${flag}`,
      { name },
    );
  const at = table.names.indexOf(chosen);
  const ids = [];
  for await (const row of table.rows()) {
    if ('fault' in row) throw new TextError('format', row.fault, { name, line: row.line });
    ids.push({ id: (row.fields[at] ?? '').trim(), line: row.line });
  }
  return { ids, from: `${name}, column ${chosen}` };
}
