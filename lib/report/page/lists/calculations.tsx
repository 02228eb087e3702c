import { type CalculationFacts, calculationFlags } from '../../facts.ts';
import { NodeLink } from '../parts/node-link.tsx';
import type { Report } from '../state/report.ts';
import { day } from '../text/numbers.ts';
import { flagged } from './flags.tsx';
import type { List } from './list.ts';
import { ownerColumn } from './owners.tsx';

export function calculationList(
  { list: { total, isWhole, columns } }: CalculationFacts,
  report: Report,
): List {
  const { id, name, texts } = columns;
  const at = (positions: readonly number[], row: number) => texts[positions[row] ?? -1] ?? '';
  const notes = flagged(calculationFlags, (row) => columns.flags[row] ?? 0);
  return {
    noun: ['calculation', 'calculations'],
    length: id.length,
    total,
    isWhole,
    which: 'most notable',
    columns: [
      {
        name: 'name',
        label: 'Name',
        text: (row) => name[row] ?? '',
        cell: (row) => <NodeLink kind="calculation" id={id[row] ?? ''} name={name[row] ?? ''} />,
        isHeading: true,
      },
      { name: 'id', label: 'Id', text: (row) => id[row] ?? '' },
      { name: 'status', label: 'Status', text: (row) => at(columns.status, row), isFacet: true },
      ownerColumn((row) => [at(columns.owner, row)], report),
      {
        name: 'modified',
        label: 'Last changed',
        text: (row) => day(columns.lastModified[row]),
        number: (row) => columns.lastModified[row] ?? null,
      },
      notes.column,
    ],
    flags: notes.flags,
    textOf: (row) => `${name[row]} ${id[row]}`,
    sort: 'name',
    empty: 'The last snapshot holds no calculation.',
  };
}
