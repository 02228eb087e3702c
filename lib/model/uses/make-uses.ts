import type { LineReader } from '../../snapshot/changes/line-reader.ts';
import { createRecordFields } from '../../snapshot/changes/record-fields.ts';
import { createRowWriter, type MadeRows } from '../columns/write-rows.ts';
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
  const rows = createRowWriter(useColumns);
  return {
    add(reader) {
      for (const use of usesOf(source, readFields(reader))) rows.add(rowOf(use));
    },
    end: rows.end,
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

/** JSON in the order of the columns. Kinds, relations and fields need no escapes. */
function rowOf({ user, used, relation, validity, statedBy }: Use): string {
  const said = validity === null ? '' : `,"validity":${quoted(validity)}`;
  return `{"user_kind":"${user.kind}","user_id":${quoted(user.id)},"used_kind":"${used.kind}","used_id":${quoted(used.id)},"relation":"${relation}"${said},"stated_by":"${statedBy}"}`;
}

const PLAIN = /^[\w-]*$/;

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
