import { macros } from '../../tables/duckdb/macros.ts';
import type { TableInfo } from '../../tables/duckdb/open-tables.ts';
import { savedSql } from '../../tables/duckdb/saved-sql.ts';
import { savedQueries } from '../../tables/saved-queries.ts';
import { UsageError } from '../errors/usage-error.ts';
import { inColumns } from '../terminal/terminal.ts';

/** What a command of the prompt works with: the tables that there are, the lines to print, and the query to run. */
type Prompt = {
  readonly listed: () => readonly TableInfo[];
  readonly print: (line: string) => void;
  readonly run: (sql: string) => Promise<void>;
};

type PromptCommand = {
  readonly does: string;
  /** Returns lines to print. */
  readonly run: (argument: string, prompt: Prompt) => readonly string[] | Promise<readonly string[]>;
};

const NAME_WIDTH = 26;

const QUIT = '.quit';

/** The commands of the prompt, by what is typed. */
const commands: Readonly<Record<string, PromptCommand>> = {
  '.tables': {
    does: 'lists the tables, and the queries that are called like one',
    run: (_, { listed }) => [
      ...listed().map(({ name, about }) => `${name.padEnd(NAME_WIDTH)}${about}`),
      ...macros.map(({ name, parameters, about }) => {
        const called = `${name}(${parameters.map((each) => each.replace(/_$/, '')).join(', ')})`;
        return `${called.padEnd(NAME_WIDTH)}${about}`;
      }),
    ],
  },
  '.columns TABLE': {
    does: 'lists the columns of a table',
    run(name, { listed }) {
      const table = listed().find((each) => each.name === name.toLowerCase());
      if (table === undefined)
        throw new UsageError(`expected a table, got ${JSON.stringify(name)}: .tables lists them`);
      const columns = table.columns.map((column) => [column.name, column.type]);
      return inColumns(['COLUMN', 'TYPE'], columns);
    },
  },
  '.saved [NAME]': {
    does: 'runs a saved query; without a name: lists them',
    async run(name, { run }) {
      if (name === '') return listSaved();
      await run(savedSql(name));
      return [];
    },
  },
  '.help': {
    does: 'prints this',
    run: () => [
      'SQL ends with a semicolon, and may have several lines. Tab completes, Up recalls, Ctrl-C stops a query or drops what was typed.',
      ...Object.entries(commands).map(([usage, { does }]) => `${usage.padEnd(NAME_WIDTH)}${does}`),
    ],
  },
  [QUIT]: { does: 'ends, like Ctrl-D', run: () => [] },
};

/** The saved queries, a line each. */
export const listSaved = (): readonly string[] =>
  inColumns(
    ['NAME', 'SHOWS'],
    savedQueries().map(({ name, description }) => [name, description]),
  );

const byName = new Map(Object.entries(commands).map(([usage, each]) => [usage.split(' ')[0] ?? '', each]));

export const promptCommands = [...byName.keys()];

/** Does what a line that begins with a dot asks for; true if the prompt is to end. Throws `UsageError`. */
export async function runPromptCommand(line: string, prompt: Prompt): Promise<boolean> {
  const [name = '', argument = ''] = line.trim().split(/\s+/);
  const command = byName.get(name);
  if (command === undefined)
    throw new UsageError(`expected one of ${promptCommands.join(', ')}, got ${name}`);
  for (const each of await command.run(argument, prompt)) prompt.print(each);
  return name === QUIT;
}

/** What completion knows. */
type Known = {
  readonly tables: readonly TableInfo[];
  readonly saved: readonly string[];
  readonly commands: readonly string[];
};

const KEYWORDS =
  'SELECT FROM WHERE GROUP BY ORDER HAVING QUALIFY LIMIT OFFSET JOIN LEFT RIGHT FULL CROSS LATERAL ON USING AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN EXISTS CASE WHEN THEN ELSE END WITH RECURSIVE UNION ALL EXCEPT INTERSECT DISTINCT VALUES CAST TRY_CAST DESCRIBE SUMMARIZE SHOW TABLES PIVOT UNPIVOT UNNEST OVER PARTITION INTERVAL DATE TIMESTAMP TRUE FALSE ASC DESC count sum min max avg list_contains lower upper'.split(
    ' ',
  );

/**
 * What the end of a statement could become, and the part of it that is replaced, as `node:readline` wants it.
 * `statement`: what was typed, the lines before included. Columns are those of the tables that it names, if any.
 */
export function complete(statement: string, known: Known): [completions: string[], replaced: string] {
  const line = statement.slice(statement.lastIndexOf('\n') + 1);
  const command = /^\s*(\.\w*)(?:\s+(\S*))?$/.exec(line);
  if (command !== null) return ofCommand(command[1] ?? '', command[2], known);
  const [replaced = ''] = /[\w$]*$/.exec(statement) ?? [];
  const begins = (name: string) => name.toLowerCase().startsWith(replaced.toLowerCase());
  const before = statement.slice(0, statement.length - replaced.length);
  const columns = columnsIn(statement, known.tables).filter(begins);
  // After a dot there is a column or a field.
  if (before.endsWith('.')) return [columns, replaced];
  const tables = known.tables.map(({ name }) => name);
  const calls = macros.map(({ name, parameters }) => (parameters.length === 0 ? `${name}()` : `${name}(`));
  const names = [...tables, ...calls].filter(begins);
  if (/\b(?:from|join|describe|summarize)\s+$/i.test(before)) return [names, replaced];
  const isLower = replaced !== '' && replaced === replaced.toLowerCase();
  const keywords = KEYWORDS.filter(begins).map((word) => (isLower ? word.toLowerCase() : word));
  return [[...new Set([...columns, ...names, ...keywords])], replaced];
}

function ofCommand(command: string, argument: string | undefined, known: Known): [string[], string] {
  if (argument === undefined) return [known.commands.filter((name) => name.startsWith(command)), command];
  const names = command === '.saved' ? known.saved : known.tables.map(({ name }) => name);
  return [names.filter((name) => name.startsWith(argument)), argument];
}

/** The columns of the tables that a statement names, or of all if it names none yet. */
function columnsIn(statement: string, tables: readonly TableInfo[]): readonly string[] {
  const words = new Set(statement.toLowerCase().match(/\w+/g));
  const named = tables.filter(({ name }) => words.has(name));
  const of = named.length > 0 ? named : tables;
  return [...new Set(of.flatMap(({ columns }) => columns.map(({ name }) => name)))];
}
