import { type BadRow, openRows, type Row, type RowsOptions, type SourceFormat } from './read-rows.ts';
import { compareIds, type RepeatedIds } from './repeated-ids.ts';

/** What a source of texts was found to be, besides its rows. */
export type InputFound = Pick<SourceFormat, 'format' | 'encoding'> & {
  /** Of a CSV. */
  readonly separator?: string | undefined;
  /** Rows without a text that were left out, as requested. */
  readonly skipped: number;
  /** Undefined if the rows have no ids of their own. */
  readonly repeatedIds?: RepeatedIds | undefined;
};

export type InputOptions = RowsOptions & {
  /** Leaves out rows whose text is blank or null: they are neither scored nor bad. */
  readonly skipEmpty?: boolean | undefined;
};

/** A source of texts that can be read more than once. */
export type Input = {
  readonly rows: () => AsyncGenerator<Row | BadRow>;
  /** What it was found to be by the last reading that came to its end. */
  readonly found: () => InputFound | undefined;
};

/** `open` gives the same bytes each time. Reading throws `RowsError`, as `openRows` does. */
export function createInput(open: () => AsyncIterable<Uint8Array>, options: InputOptions): Input {
  let latest: InputFound | undefined;
  return {
    async *rows() {
      await using source = await openRows(open(), options);
      const ids = options.id === undefined ? undefined : compareIds();
      let skipped = 0;
      for await (const { row } of source.rows()) {
        if ('fault' in row && row.isEmpty && options.skipEmpty) {
          skipped += 1;
          continue;
        }
        if (row.id !== undefined) ids?.add(row.id, row.line);
        yield row;
      }
      const { format, encoding, separator } = source.format;
      latest = {
        format,
        encoding,
        ...(separator === undefined ? {} : { separator }),
        skipped,
        ...(ids === undefined ? {} : { repeatedIds: ids.found() }),
      };
    },
    found: () => latest,
  };
}
