import type { DatasetFacts } from '../../facts.ts';
import { NodeLink } from '../parts/node-link.tsx';
import { hashOf } from '../state/hash.ts';
import { count } from '../text/numbers.ts';
import type { Column, List } from './list.ts';

export function datasetList({ list: { total, isWhole, columns } }: DatasetFacts): List {
  const { id } = columns;
  const counts = (name: 'cards' | 'calculations' | 'brokenLinks', label: string): Column => ({
    name,
    label,
    text: (row) => count(columns[name][row] ?? 0),
    number: (row) => columns[name][row] ?? 0,
    isNumber: true,
  });
  return {
    noun: ['dataset', 'datasets'],
    length: id.length,
    total,
    isWhole,
    which: 'most used',
    columns: [
      {
        name: 'id',
        label: 'Id',
        text: (row) => id[row] ?? '',
        cell: (row) => <NodeLink kind="dataset" id={id[row] ?? ''} name={id[row] ?? ''} />,
        isHeading: true,
      },
      {
        ...counts('cards', 'Cards'),
        cell: (row) => (
          <a href={hashOf('cards', { dataset: id[row] ?? '' })}>{count(columns.cards[row] ?? 0)}</a>
        ),
      },
      counts('calculations', 'Calculations'),
      counts('brokenLinks', 'Broken links to it'),
    ],
    flags: [
      {
        name: 'broken_links',
        label: 'broken links to it',
        has: (row) => (columns.brokenLinks[row] ?? 0) > 0,
      },
      { name: 'no-cards', label: 'without cards', has: (row) => columns.cards[row] === 0 },
    ],
    textOf: (row) => id[row] ?? '',
    sort: '-cards',
    empty: 'No calculation and no card names a dataset.',
  };
}
