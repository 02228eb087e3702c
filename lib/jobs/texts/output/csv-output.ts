import { parseJson } from '../../../base/index.ts';
import { printed } from '../rows/ndjson-row.ts';
import type { SourceFormat, SourceRecord } from '../rows/read-rows.ts';
import type { JoinedRow } from './joined-rows.ts';
import { scoreColumns } from './score-columns.ts';
import { csvCell } from './text-file.ts';

export type CsvOptions = {
  readonly format: Pick<SourceFormat, 'isMarked'>;
  /** The columns of the rows, in order. */
  readonly names: readonly string[];
  readonly topics: readonly string[];
  readonly separator: string;
};

/**
 * Rows with their scores as the lines of a CSV (RFC 4180), in UTF-8, after its header; with a byte order mark if the
 * source has one, as Excel expects. A row that cannot be read has empty cells, and the error names its line.
 */
export async function* csvOutput(
  rows: AsyncIterable<JoinedRow>,
  { format, names, topics, separator }: CsvOptions,
): AsyncGenerator<string> {
  const added = scoreColumns(names, topics);
  const line = (cells: readonly string[]) =>
    `${cells.map((text) => csvCell(text, separator)).join(separator)}\n`;
  yield `${format.isMarked ? '\uFEFF' : ''}${line([...names, ...added.map(({ name }) => name)])}`;
  for await (const { record, score } of rows) {
    const scored = added.map(({ textIn }) => (score === undefined ? '' : textIn(score)));
    yield line([...cellsOf(record, names), ...scored]);
  }
}

/** As many cells as there are names. */
function cellsOf(record: SourceRecord, names: readonly string[]): readonly string[] {
  switch (record.kind) {
    case 'fields':
      return names.map((_, index) => record.fields[index] ?? '');
    case 'json': {
      const fields = membersOf(record.text);
      return names.map((name) => (fields.has(name) ? printed(fields.get(name)) : ''));
    }
    case 'broken':
      return names.map(() => '');
    default:
      return record satisfies never;
  }
}

/** The members of a JSON object; none of anything else. */
export function membersOf(text: string): ReadonlyMap<string, unknown> {
  try {
    const value = parseJson(text);
    return new Map(
      typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [],
    );
  } catch {
    return new Map();
  }
}
