import { type Call, compareIds, type Id, type OnOdd } from '../../../platform/index.ts';
import { expandNames, getDataFile } from '../../../platform/operations/index.ts';
import { foundBatch } from '../../page/found-batch.ts';
import type { RecordBatch } from '../../page/record-fields.ts';
import { findOddMembers, hasOwnKey, isRecord, wantedFields } from '../../page/record-finder.ts';
import { digitsAt } from '../../page/record-index.ts';
import { scanRecord } from '../../page/scan-response.ts';
import type { Scan } from '../../scan.ts';
import { type FanOutPosition, fanOut } from '../fan-out.ts';

export { fanOutPosition } from '../fan-out.ts';

const EXPAND = expandNames.join(',');

/**
 * Scans the metadata of data files, in the order of their ids as integers. Key: the id's digits. A line of a part is
 * the whole response.
 */
export const dataFilesScan = ({
  call,
  ids,
}: {
  readonly call: Call;
  /** The data files in any order; duplicates are skipped. */
  readonly ids: readonly Id[];
}): Scan<FanOutPosition> =>
  fanOut({
    ids: [...new Set(ids)].sort(compareIds),
    read: (id, signal) =>
      call.read(
        getDataFile,
        { path: { dataFileId: id }, query: { expand: EXPAND } },
        (bytes, onOdd) => dataFileIn(bytes, id, onOdd),
        { signal },
      ),
    total: new Set(ids).size,
  });

const wanted = wantedFields(getDataFile.records);

/** Reads the data file in a response. If the response has no id, it is taken to be the requested data file. */
function dataFileIn(bytes: Buffer, id: Id, onOdd: OnOdd | undefined): RecordBatch {
  const found = scanRecord(bytes, wanted);
  if (!isRecord(found, 0)) throw new Error('the response: expected an object');
  const isNamed = hasOwnKey(found, 0);
  const key = isNamed ? digitsAt(found.index, 0) : id;
  if (key !== id) throw new Error(`dataFileId: expected ${id}, got ${key}`);
  onOdd?.(findOddMembers(found, getDataFile.records));
  const last = { name: wanted.key, digitsOf: () => id };
  return foundBatch(found, { keyOf: () => id, ...(isNamed ? {} : { last }) });
}
