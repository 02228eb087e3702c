import { macros } from '../../tables/duckdb/macros.ts';
import type { TableInfo } from '../../tables/duckdb/open-tables.ts';
import { UsageError } from '../errors/usage-error.ts';
import { inColumns } from '../terminal/terminal.ts';
import { listSaved, savedSql } from './saved.ts';

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
      'SQL ends with a semicolon, and may have several lines. Tab completes, Ctrl-C stops a query or drops what was typed.',
      ...Object.entries(commands).map(([usage, { does }]) => `${usage.padEnd(NAME_WIDTH)}${does}`),
    ],
  },
  [QUIT]: { does: 'ends, like Ctrl-D', run: () => [] },
};

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
