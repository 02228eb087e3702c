import { macros } from '../../tables/duckdb/macros.ts';
import type { TableInfo } from '../../tables/duckdb/open-tables.ts';
import { UsageError } from '../errors/usage-error.ts';
import { inColumns } from '../terminal/columns.ts';
import { listSaved, savedSql } from './saved.ts';

/** What a command of the prompt leads to: lines to print, SQL to run, or the end. */
export type PromptAction =
  | { readonly kind: 'print'; readonly lines: readonly string[] }
  | { readonly kind: 'run'; readonly sql: string }
  | { readonly kind: 'quit' };

type PromptCommand = {
  readonly usage: string;
  readonly does: string;
  readonly run: (argument: string, tables: readonly TableInfo[]) => PromptAction;
};

const print = (lines: readonly string[]): PromptAction => ({ kind: 'print', lines });

/** The commands of the prompt, by their names. */
export const promptCommands: Readonly<Record<string, PromptCommand>> = {
  '.tables': {
    usage: '.tables',
    does: 'lists the tables, and the queries that are called like one',
    run: (_, tables) => print([...tables.map(tableCells), ...macros.map(macroCells)].flatMap(asLines)),
  },
  '.columns': {
    usage: '.columns TABLE',
    does: 'lists the columns of a table',
    run: (name, tables) => print(columnLines(name, tables)),
  },
  '.saved': {
    usage: '.saved [NAME]',
    does: 'runs a saved query; without a name: lists them',
    run: (name) => (name === '' ? print(listSaved()) : { kind: 'run', sql: savedSql(name) }),
  },
  '.help': { usage: '.help', does: 'prints this', run: () => print(helpLines()) },
  '.quit': { usage: '.quit', does: 'ends, like Ctrl-D', run: () => ({ kind: 'quit' }) },
};

/** What a line that begins with a dot leads to. Throws `UsageError`. */
export function promptAction(line: string, tables: readonly TableInfo[]): PromptAction {
  const [name = '', argument = ''] = line.trim().split(/\s+/);
  const command = Object.hasOwn(promptCommands, name) ? promptCommands[name] : undefined;
  if (command === undefined)
    throw new UsageError(`expected one of ${Object.keys(promptCommands).join(', ')}, got ${name}`);
  return command.run(argument, tables);
}

const tableCells = ({ name, about }: TableInfo) => [name, about] as const;
const macroCells = ({ name, parameters, about }: (typeof macros)[number]) =>
  [`${name}(${parameters.map((each) => each.replace(/_$/, '')).join(', ')})`, about] as const;

const NAME_WIDTH = 26;
const asLines = ([name, about]: readonly [string, string]) => [`${name.padEnd(NAME_WIDTH)}${about}`];

function columnLines(name: string, tables: readonly TableInfo[]): readonly string[] {
  const table = tables.find((each) => each.name === name.toLowerCase());
  if (table === undefined)
    throw new UsageError(`expected a table, got ${JSON.stringify(name)}: .tables lists them`);
  return inColumns(
    ['COLUMN', 'TYPE'],
    table.columns.map((column) => [column.name, column.type]),
  );
}

const helpLines = (): readonly string[] => [
  'SQL ends with a semicolon, and may have several lines. Tab completes, Ctrl-C stops a query or drops what was typed.',
  ...Object.values(promptCommands).map(({ usage, does }) => `${usage.padEnd(NAME_WIDTH)}${does}`),
];
