import type { Call, OnOdd, ReadAnswer } from '../../../platform/index.ts';
import { listCards } from '../../../platform/operations/index.ts';
import { foundBatch } from '../../page/found-batch.ts';
import type { RecordBatch } from '../../page/record-fields.ts';
import {
  addNested,
  type FoundRecords,
  findOddMembers,
  hasOwnKey,
  refuseKeyless,
  wantedFields,
} from '../../page/record-finder.ts';
import { compareKeys, digitsAt, rowsBetween } from '../../page/record-index.ts';
import { scanList } from '../../page/scan-response.ts';
import { isStringAt } from '../../page/value-at.ts';
import type { Scan } from '../../scan.ts';
import { type FanOutPosition, fanOut } from '../fan-out.ts';

export { fanOutPosition } from '../fan-out.ts';

/**
 * Scans cards in the order of dataset ids (as strings), then card ids (as integers). If a dataset lists a card twice,
 * the first one is taken. Key: `DATASETID/CARDID`.
 */
export const cardsScan = ({
  call,
  datasetIds,
  drill,
}: {
  readonly call: Call;
  /** The datasets in any order; duplicates are skipped. */
  readonly datasetIds: readonly string[];
  readonly drill: boolean;
}): Scan<FanOutPosition> =>
  fanOut({
    ids: [...new Set(datasetIds)].sort(),
    read: (datasetId, signal) => {
      const read: ReadAnswer<RecordBatch> = (bytes, onOdd) => cardsIn(bytes, datasetId, { drill, onOdd });
      return call.read(listCards, { path: { datasetId }, query: { drill } }, read, { signal });
    },
    total: null,
  });

const wanted = wantedFields(listCards.records, { others: ['datasourceId', 'drills'], label: 'title' });
/** The columns of the record index that have the positions of `datasourceId` and `drills`. */
const DATASOURCE = listCards.records.keys.length;
const DRILLS = DATASOURCE + 1;

/**
 * The cards of a dataset in the order of ids, each once, with the drills inside them if `drill` is true. If a card is
 * both in the list and inside another card, the one in the list is taken. Throws `SyntaxError` if the response is not
 * JSON, and `Error` if it is not a list of cards.
 */
export function cardsIn(
  bytes: Buffer,
  datasetId: string,
  { drill = true, onOdd }: { readonly drill?: boolean; readonly onOdd?: OnOdd | undefined } = {},
): RecordBatch {
  const found = scanList(bytes, wanted);
  if (found === undefined) throw new Error('the response: expected an array of cards');
  refuseKeyless(found, 'card');
  onOdd?.(findOddMembers(found, listCards.records));
  if (drill) addNested(found, DRILLS);
  const { json, index } = found;
  const datasources = index.values[DATASOURCE];
  return foundBatch(found, {
    keyOf: (card) => `${datasetId}/${digitsAt(index, card)}`,
    order: inOrder(found),
    last: {
      name: wanted.key,
      digitsOf: (card) => (hasOwnKey(found, card) ? undefined : digitsAt(index, card)),
    },
    first: {
      name: '_datasetId',
      text: datasetId,
      // A card that is a drill refers to the dataset that it is built on, which may be a different one.
      isFor: (card) => !isStringAt(json, datasources?.[card] ?? 0, datasetId),
    },
  });
}

/** The order of the cards by id, each once. */
function inOrder({ index, records }: FoundRecords): Uint32Array {
  const order = rowsBetween(0, records);
  // If ids are equal, the card that was received first is taken.
  order.sort((a, b) => compareKeys(index, a, b) || a - b);
  return order.filter((card, at) => at === 0 || compareKeys(index, order[at - 1] ?? 0, card) !== 0);
}
