import type { Model } from '../../model/index.ts';
import type { DatasetFacts } from '../facts.ts';
import type { ListLimits } from './list-limits.ts';
import type { Shown } from './things-to-show.ts';
import { shownText } from './values.ts';

/** Lists the datasets that are used, those with the most cards first. */
export function listDatasets({ datasets, things }: Model, { whole, top }: ListLimits): Shown<DatasetFacts> {
  const total = datasets.length;
  const listed = datasets
    .toSorted((a, b) => b.cards - a.cards || b.calculations - a.calculations)
    .slice(0, total <= whole ? total : top);
  const columns = {
    id: listed.map(({ dataset_id }) => shownText(dataset_id)),
    cards: listed.map(({ cards }) => cards),
    calculations: listed.map(({ calculations }) => calculations),
    brokenLinks: listed.map(({ broken_links }) => broken_links),
  };
  return {
    facts: { total, list: { total, isWhole: total <= whole, columns } },
    nodes: listed.map(({ dataset_id }) => things.find({ kind: 'dataset', id: dataset_id }) ?? -1),
  };
}
