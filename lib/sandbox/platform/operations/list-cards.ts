import { listCards } from '../../../platform/operations/list-cards.ts';
import { ok, operation, refused } from './operation.ts';

/** Contract 4.4. */
export const listCardsOperation = operation(listCards, ({ path, query }, { state }) => {
  const datasetIndex = state.datasets.findIndex(({ id }) => id === path.datasetId.toLowerCase());
  if (datasetIndex < 0) return refused(404, `there is no dataset ${path.datasetId}`);
  const withDrill = query?.drill ?? true;
  const cards = state.cards.of(datasetIndex).filter(({ rootId }) => withDrill || rootId === undefined);
  return ok(JSON.stringify(cards.map(({ row }) => row)));
});
