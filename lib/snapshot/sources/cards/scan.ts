import type { Call } from '../../../platform/call.ts';
import { compareIds, idDigits } from '../../../platform/id.ts';
import { listCards } from '../../../platform/operations/list-cards.ts';
import { batchOf, type RecordBatch } from '../../page/record-batch.ts';
import { membersOf, scannedRecord, shapeError } from '../../page/record-line.ts';
import type { ScannedRecord } from '../../page/scanned-record.ts';
import { sliceRecords } from '../../page/slice-records.ts';
import type { Scan } from '../../scan.ts';
import { type FanOutPosition, fanOut } from '../fan-out.ts';

export { fanOutPosition } from '../fan-out.ts';

export type CardsScanOptions = {
  readonly call: Call;
  /** In any order; duplicates are skipped. */
  readonly datasetIds: readonly string[];
  /** Whether to include cards that use a dataset only in a drill. */
  readonly drill: boolean;
  /** How many datasets are read ahead. Default 8. */
  readonly concurrency?: number | undefined;
};

/**
 * Scans the cards of each dataset, in the order of the datasets' ids as text, and within one in the order of the
 * cards' ids as integers. Key: `DATASETID/CARDID`. If a dataset has a card twice, only the first is taken.
 */
export function cardsScan({ call, datasetIds, drill, concurrency }: CardsScanOptions): Scan<FanOutPosition> {
  return fanOut({
    ids: [...new Set(datasetIds)].sort(),
    read: (datasetId, signal) => cardsOf(datasetId, { call, drill, signal }),
    total: null,
    concurrency,
  });
}

type Reading = { readonly call: Call; readonly drill: boolean; readonly signal: AbortSignal };

async function cardsOf(datasetId: string, { call, drill, signal }: Reading): Promise<RecordBatch> {
  const { text, json } = await call.raw(listCards, { path: { datasetId }, query: { drill } }, { signal });
  if (!Array.isArray(json)) throw shapeOf(datasetId, 'the response: expected an array of cards');
  const sources = sliceRecords(text, null);
  const cards = json.map((value: unknown, at) => {
    const id = idDigits(membersOf(value)['id']);
    if (id === undefined) throw shapeOf(datasetId, faultOf(value, at));
    return { id, record: cardRecord(datasetId, { id, value: membersOf(value), source: sources[at] }) };
  });
  const ordered = cards
    .sort((a, b) => compareIds(a.id, b.id))
    .filter(({ id }, at, sorted) => id !== sorted[at - 1]?.id);
  return batchOf(ordered.map(({ record }) => record));
}

type Card = {
  readonly id: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly source: string | undefined;
};

function cardRecord(datasetId: string, { id, value, source }: Card): ScannedRecord {
  // A card found through a drill names the dataset that it is built on, which may be a different one.
  const namesDataset = value['datasourceId'] === datasetId;
  const first = namesDataset ? undefined : { name: '_datasetId', text: datasetId };
  return scannedRecord({ key: `${datasetId}/${id}`, value, source, first });
}

function faultOf(card: unknown, at: number): string {
  const title = membersOf(card)['title'];
  const named = typeof title === 'string' ? ` (“${title.slice(0, 100)}”)` : '';
  return `card ${at}${named}: expected an object with an integer as its id`;
}

const shapeOf = (datasetId: string, fault: string) =>
  shapeError(listCards.name, `cards of dataset ${datasetId}`, fault);
