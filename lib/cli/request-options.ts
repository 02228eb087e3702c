import { type Command, InvalidArgumentError, Option } from 'commander';
import { faultsOf, preview } from '../json/faults.ts';
import {
  placeName,
  requestRules,
  requestSchemasWith,
  type SnapshotRequest,
} from '../snapshot/sources/request.ts';
import type { RequestOption } from '../snapshot/sources/source-definition.ts';
import { type Source, sourceDefinitions } from '../snapshot/sources/sources.ts';
import { collected, readLines } from './options.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Adds the options of a source's command. */
export function addRequestOptions(command: Command, source: Source): void {
  for (const option of sourceDefinitions[source].options) command.addOption(optionOf(option));
}

/** The names of the options of a source that the command was given. */
export const optionsGiven = (command: Command, source: Source): readonly string[] =>
  given(command, source).map(({ name }) => name);

export type ReadRequest = {
  readonly request: SnapshotRequest;
  /** Where its ids came from, in words; undefined where no file gives them. */
  readonly idsFrom: string | undefined;
};

/** The request that the command's options make, checked as that of a message is. Throws `UsageError` with every fault. */
export async function readRequest(
  command: Command,
  source: Source,
  { as, readInput }: { readonly as: string | undefined } & Pick<Terminal, 'readInput'>,
): Promise<ReadRequest> {
  const fields: Record<string, unknown> = { source, ...(as === undefined ? {} : { as }) };
  let idsFrom: string | undefined;
  for (const { option, value } of given(command, source)) {
    if (option.field in fields)
      throw new UsageError(
        `${flagsOf(source)(option.field)}: expected them as options or in a file, got both`,
      );
    fields[option.field] = option.kind === 'lines' ? await readLines(String(value), { readInput }) : value;
    if (option.kind === 'lines') idsFrom = value === '-' ? 'standard input' : String(value);
  }
  return { request: checkRequest(source, fields), idsFrom };
}

type Given = { readonly option: RequestOption; readonly name: string; readonly value: unknown };

function given(command: Command, source: Source): readonly Given[] {
  return sourceDefinitions[source].options.flatMap((option) => {
    const name = optionOf(option).attributeName();
    if (command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = option.kind === 'switch' ? option.value : command.getOptionValue(name);
    return [{ option, name, value }];
  });
}

function optionOf(option: RequestOption): Option {
  const made = new Option(option.flags, option.help);
  return option.kind === 'list' ? made.argParser(entryReader(option)) : made;
}

const entryReader =
  ({ entry }: Extract<RequestOption, { readonly kind: 'list' }>) =>
  (text: string, before?: readonly unknown[]): readonly unknown[] => {
    const value = entry === undefined ? text : entry.read(text);
    if (value !== undefined) return collected(value, before);
    throw new InvalidArgumentError(`Expected ${entry?.expected}, got ${JSON.stringify(text)}.`);
  };

/** Nothing is sent, so that lists of ids may be as long as they are. */
const schemas = requestSchemasWith({}, 'unboundedFields');

function checkRequest(source: Source, fields: Readonly<Record<string, unknown>>): SnapshotRequest {
  const named = flagsOf(source);
  const { data, error } = schemas[source].safeParse(fields);
  const faults = [
    ...(error === undefined ? [] : faultsOf(error, fields, { place: ([field]) => named(String(field)) })),
    ...requestRules
      .filter(({ holds }) => !holds(fields))
      .map(({ at, expected }) => `${named(at)}: expected ${expected(named)}, got ${preview(fields[at])}`),
  ];
  if (data === undefined || faults.length > 0) throw new UsageError(faults.join('; '));
  return data;
}

/** The value of `--as`. */
export function checkPlaceName(as: string | undefined): string | undefined {
  if (as === undefined) return undefined;
  const { data, error } = placeName.safeParse(as);
  if (error === undefined) return data;
  throw new UsageError(faultsOf(error, as, { place: () => '--as' }).join('; '));
}

/** The options that set a field of the request, as people type them. */
const flagsOf = (source: Source) => (field: string) =>
  sourceDefinitions[source].options
    .filter((option) => option.field === field)
    .map((option) => optionOf(option).long)
    .join(' or ') || `--${field}`;
