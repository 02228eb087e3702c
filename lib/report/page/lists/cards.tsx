import { type CardFacts, cardFlags } from '../../facts.ts';
import { NodeLink } from '../parts/node-link.tsx';
import type { Report } from '../state/report.ts';
import { flagged } from './flags.tsx';
import type { List } from './list.ts';
import { ownerColumn } from './owners.tsx';

export function cardList({ list: { total, isWhole, columns } }: CardFacts, report: Report): List {
  const { id, title, texts } = columns;
  const at = (positions: readonly number[], row: number) => texts[positions[row] ?? -1] ?? '';
  const notes = flagged(cardFlags, (row) => columns.flags[row] ?? 0);
  return {
    noun: ['card', 'cards'],
    length: id.length,
    total,
    isWhole,
    which: 'most notable',
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
      ownerColumn((row) => (columns.owners[row] ?? []).map((position) => texts[position] ?? ''), report),
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
      notes.column,
    ],
    flags: notes.flags,
    textOf: (row) => `${title[row]} ${id[row]}`,
    sort: 'title',
    empty: 'The last snapshot holds no card.',
  };
}
