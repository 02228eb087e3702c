import type { Call } from '../../../platform/call.ts';
import { compareIds, type Id, idDigits } from '../../../platform/id.ts';
import { getDataFile } from '../../../platform/operations/get-data-file.ts';
import { batchOf, type RecordBatch } from '../../page/record-batch.ts';
import { membersOf, scannedRecord, shapeError } from '../../page/record-line.ts';
import type { Scan } from '../../scan.ts';
import { type FanOutPosition, fanOut } from '../fan-out.ts';

export { fanOutPosition } from '../fan-out.ts';

export type DataFilesScanOptions = {
  readonly call: Call;
  /** In any order; duplicates are skipped. */
  readonly ids: readonly Id[];
  /** Any of `revisions` and `metadata`. */
  readonly expand: readonly string[];
  /** How many data files are read ahead. Default 8. */
  readonly concurrency?: number | undefined;
};

/**
 * Scans the metadata of data files, in the order of their ids as integers. Key: the id's digits. The line is the
 * whole response. Throws `TypeError` if an id is not an integer.
 */
export function dataFilesScan({
  call,
  ids: requested,
  expand,
  concurrency,
}: DataFilesScanOptions): Scan<FanOutPosition> {
  const ids = [...new Set(requested.map(digitsOf))].sort(compareIds);
  const query = expand.length === 0 ? {} : { expand: expand.join(',') };
  const read = async (id: Id, signal: AbortSignal): Promise<RecordBatch> => {
    const { text, json } = await call.raw(getDataFile, { path: { dataFileId: id }, query }, { signal });
    const value = membersOf(json);
    const key = idDigits(value['dataFileId']);
    if (key !== id) throw wrongId(id, key);
    return batchOf([scannedRecord({ key, value, source: text.trim() })]);
  };
  return fanOut({ ids, read, total: ids.length, concurrency });
}

function digitsOf(id: Id): Id {
  const digits = idDigits(id);
  if (digits === undefined)
    throw new TypeError(`data-file ids: expected integers, got ${JSON.stringify(id)}`);
  return digits;
}

const wrongId = (id: Id, got: Id | undefined) =>
  shapeError(getDataFile.name, `data file ${id}`, `dataFileId: expected ${id}, got ${got ?? 'no integer'}`);
