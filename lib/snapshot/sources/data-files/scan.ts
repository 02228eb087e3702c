import { type Call, compareIds, type Id, idDigits } from '../../../platform/index.ts';
import { getDataFile } from '../../../platform/operations/get-data-file.ts';
import { foundBatch } from '../../page/found-batch.ts';
import type { RecordBatch } from '../../page/record-batch.ts';
import { digitsAt } from '../../page/record-index.ts';
import { scanRecord } from '../../page/scan-response.ts';
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
  const read = (id: Id, signal: AbortSignal): Promise<RecordBatch> =>
    call.read(getDataFile, { path: { dataFileId: id }, query }, (bytes) => dataFileIn(bytes, id), { signal });
  return fanOut({ ids, read, total: ids.length, concurrency });
}

const wanted = { key: 'dataFileId', keyIs: 'integer' } as const;

/** The data file with this id, as it was sent. It is not parsed. */
function dataFileIn(bytes: Buffer, id: Id): RecordBatch {
  const found = scanRecord(bytes, wanted);
  const key = found.keyless === undefined ? digitsAt(found.index, 0) : undefined;
  if (key !== id) throw new Error(`dataFileId: expected ${id}, got ${key ?? 'no integer'}`);
  return foundBatch(found, { keyOf: () => id });
}

function digitsOf(id: Id): Id {
  const digits = idDigits(id);
  if (digits === undefined)
    throw new TypeError(`data-file ids: expected integers, got ${JSON.stringify(id)}`);
  return digits;
}
