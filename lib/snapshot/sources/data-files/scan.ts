import { type Call, compareIds, type Id } from '../../../platform/index.ts';
import { expandNames, getDataFile } from '../../../platform/operations/get-data-file.ts';
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
};

const EXPAND = expandNames.join(',');

/** The metadata of data files, in the order of their ids as integers. Key: the id's digits. A line is the whole response. */
export const dataFilesScan = ({ call, ids }: DataFilesScanOptions): Scan<FanOutPosition> =>
  fanOut({
    ids: [...new Set(ids)].sort(compareIds),
    read: (id, signal) =>
      call.read(
        getDataFile,
        { path: { dataFileId: id }, query: { expand: EXPAND } },
        (bytes) => dataFileIn(bytes, id),
        { signal },
      ),
    total: new Set(ids).size,
  });

const wanted = { key: 'dataFileId', keyIs: 'integer' } as const;

function dataFileIn(bytes: Buffer, id: Id): RecordBatch {
  const found = scanRecord(bytes, wanted);
  const key = found.keyless === undefined ? digitsAt(found.index, 0) : undefined;
  if (key !== id) throw new Error(`dataFileId: expected ${id}, got ${key ?? 'no integer'}`);
  return foundBatch(found, { keyOf: () => id });
}
