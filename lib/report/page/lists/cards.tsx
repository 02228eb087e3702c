import type { CardFacts } from '../../facts.ts';
import { NodeLink } from '../parts/node-link.tsx';
import type { List } from './list.ts';

export function cardList({ list: { total, isWhole, columns } }: CardFacts): List {
  const { id, title, texts } = columns;
  const withoutAccess = new Set(columns.withoutAccess);
  const at = (positions: readonly number[], row: number) => texts[positions[row] ?? -1] ?? '';
  return {
    noun: ['card', 'cards'],
    length: id.length,
    total,
    isWhole,
    columns: [
      {
        name: 'title',
        label: 'Title',
        text: (row) => title[row] ?? '',
        cell: (row) => <NodeLink kind="card" id={id[row] ?? ''} name={title[row] ?? ''} />,
        isHeading: true,
      },
      { name: 'id', label: 'Id', text: (row) => id[row] ?? '' },
      { name: 'type', label: 'Type', text: (row) => at(columns.type, row), isFacet: true },
      { name: 'owner', label: 'Owner', text: (row) => at(columns.owner, row), isFacet: true },
      {
        name: 'dataset',
        label: 'Dataset',
        text: (row) => at(columns.dataset, row),
        cell: (row) => {
          const dataset = at(columns.dataset, row);
          return dataset === '' ? '–' : <NodeLink kind="dataset" id={dataset} name={dataset} />;
        },
        isFacet: true,
      },
    ],
    flags: [{ name: 'withoutAccess', label: 'without access', has: (row) => withoutAccess.has(row) }],
    textOf: (row) => `${title[row]} ${id[row]}`,
    sort: 'title',
    empty: 'The last snapshot holds no card.',
  };
}
