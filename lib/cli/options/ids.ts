import { Readable } from 'node:stream';
import { listed } from '../../base/index.ts';
import type { IdsInFile } from '../../snapshot/sources/source-definition.ts';
import { openTableFile, TextError } from '../../text/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { readText } from './files.ts';

type Wanted = IdsInFile & {
  /** The column of a CSV. Default: the one that has the name of such ids. */
  readonly column: string | undefined;
};

/**
 * The ids in a file, or in standard input for `-`: one a line, or a column of a CSV. `from`: where they are, in words. Throws
 * `TextError` with the line of what is not an id.
 */
export async function readIds(
  file: string,
  { column, ...wanted }: Wanted,
  terminal: Pick<Terminal, 'readInput'>,
) {
  const name = file === '-' ? 'standard input' : file;
  // An id is ASCII, whatever stands beside it.
  const text = await readText(file, terminal, { mayGuess: true });
  const first = text.split(/[\r\n]+/).find((line) => line.trim() !== '') ?? '';
  const isTable = column !== undefined || /[,;\t|]/.test(first) || wanted.columns.includes(plain(first));
  const found = isTable
    ? await fromTable(text, name, { column, ...wanted })
    : { ids: linesOf(text), from: name };
  if (found.ids.length === 0)
    throw new TextError('format', `expected at least one id, one a line or in a column of a CSV, got none`, {
      name,
    });
  for (const { id, line } of found.ids)
    if (!wanted.isId(id))
      throw new TextError('format', `expected ${wanted.expected}, got ${JSON.stringify(id)}`, { name, line });
  return { ids: found.ids.map(({ id }) => id), from: found.from };
}

const linesOf = (text: string) =>
  text
    .split(/\r\n|\n|\r/)
    .map((line, at) => ({ id: line.trim(), line: at + 1 }))
    .filter(({ id }) => id !== '');

/** A name as one may spell it: `Data File ID` is `datafileid`. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');

async function fromTable(text: string, name: string, { column, columns, flag }: Wanted) {
  const requested = column === undefined ? [] : [column];
  await using table = await openTableFile(Readable.from([Buffer.from(text)]), {
    name,
    requested,
    encoding: 'utf-8',
    // Half a text is no id.
    wholeRows: true,
  });
  const named = table.names.filter((each) => columns.includes(plain(each)));
  const [chosen = column] = column === undefined && named.length === 1 ? named : [];
  if (chosen === undefined)
    throw new TextError(
      'columns',
      `expected one id a line, or a CSV with one column of ids, got the columns ${listed(table.names)}: name one by ${flag}`,
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
