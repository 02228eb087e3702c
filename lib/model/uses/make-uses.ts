import type { LineReader } from '../../snapshot/changes/line-reader.ts';
import { createRecordFields } from '../../snapshot/changes/record-fields.ts';
import { createColumnFile, type MadeRows } from '../../tables/parquet/column-file.ts';
import { type StatingSource, statingFields, type Use, usesOf } from '../rules/index.ts';
import { eachLine, type LinesToRead } from './each-line.ts';

/** The columns of the uses of a part: a row for each pair of things that a record states. */
export const useColumns = {
  user_kind: 'string',
  user_id: 'string',
  used_kind: 'string',
  used_id: 'string',
  relation: 'string',
  validity: 'string',
  stated_by: 'string',
} as const;

/** Extracts uses in the pass that reads the lines of parts. */
type UsesMaker = {
  /** Takes the current line of a reader. Throws `StoredObjectError` that names a line that is not JSON. */
  add(reader: LineReader): void;
  /** The uses of the lines so far as Parquet; the next part begins. */
  end(): MadeRows;
};

/** Makes the uses of one part after another, in the same memory. */
export function createUsesMaker(source: StatingSource): UsesMaker {
  const readFields = createRecordFields(statingFields[source]);
  const file = createColumnFile(useColumns);
  function addUse({ user, used, relation, validity, statedBy }: Use): void {
    const { columns } = file;
    columns.user_kind.add(user.kind);
    columns.user_id.add(user.id);
    columns.used_kind.add(used.kind);
    columns.used_id.add(used.id);
    columns.relation.add(relation);
    columns.validity.add(validity);
    columns.stated_by.add(statedBy);
    file.endRow();
  }
  return {
    add(reader) {
      for (const use of usesOf(source, readFields(reader))) addUse(use);
    },
    end: file.end,
  };
}

/**
 * The uses of one part. Throws `StoredObjectError` if it is missing or altered, or a line of it is not JSON, unless
 * `addFault` is there to receive that.
 */
export async function makeUses(source: StatingSource, part: LinesToRead): Promise<MadeRows> {
  const maker = createUsesMaker(source);
  await eachLine(part, maker.add);
  return maker.end();
}
