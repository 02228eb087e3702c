import type { Call } from '../../../platform/index.ts';
import { listCards } from '../../../platform/operations/list-cards.ts';
import type { Scan } from '../../scan.ts';
import { type FanOutPosition, fanOut } from '../fan-out.ts';
import { cardsIn } from './cards-in.ts';

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
export const cardsScan = ({ call, datasetIds, drill, concurrency }: CardsScanOptions): Scan<FanOutPosition> =>
  fanOut({
    ids: [...new Set(datasetIds)].sort(),
    read: (datasetId, signal) =>
      call.read(listCards, { path: { datasetId }, query: { drill } }, (bytes) => cardsIn(bytes, datasetId), {
        signal,
      }),
    total: null,
    concurrency,
  });
