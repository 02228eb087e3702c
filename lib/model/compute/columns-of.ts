import type { Source } from '../../snapshot/sources/sources.ts';
import { type RowGroup, rowGroupsOf } from '../columns/read-columns.ts';

/** A Parquet file: its key, for messages, and its bytes. */
type ColumnsFile = { readonly key: string; readonly read: () => Promise<Uint8Array> };

/** A part as columns. */
export type PartColumns = {
  /** The Parquet of its records. */
  readonly records: ColumnsFile;
  /** What `makeUses` made of it, for a source whose records state uses. */
  readonly uses?: ColumnsFile | undefined;
};

/** The runs of a source that a model is over. */
export type SourceColumns = {
  /** True if what they lack does not exist: one run of the whole source, with nothing missing. */
  readonly isWhole: boolean;
  readonly parts: readonly PartColumns[];
};

/** All that a model is computed from; a source of which nothing is published is absent. */
export type ModelColumns = Readonly<Partial<Record<Source, SourceColumns>>>;

/** All row groups of the files of a source, one after another: memory holds one file and its columns. */
export async function* groupsOf(
  source: SourceColumns | undefined,
  which: keyof PartColumns,
): AsyncGenerator<RowGroup> {
  for (const part of source?.parts ?? []) {
    const file = part[which];
    if (file !== undefined) yield* rowGroupsOf(file.key, await file.read());
  }
}
