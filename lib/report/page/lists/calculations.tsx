import { type CalculationFacts, type CalculationFlag, calculationFlags } from '../../facts.ts';
import { NodeLink } from '../parts/node-link.tsx';
import { day } from '../text/numbers.ts';
import type { List } from './list.ts';

/** What a flag is called among the calculations that have it. */
const flagLabels: Readonly<Record<CalculationFlag, string>> = {
  broken: 'broken',
  unused: 'unused',
  locked: 'locked',
  archived: 'archived',
  hidden: 'hidden',
  global: 'global',
  sameName: 'of a name that another has',
  sameLinks: 'of the same links as another',
  oldest: 'the oldest',
};

const flagNames = Object.keys(calculationFlags) as readonly CalculationFlag[];

export function calculationList({ list: { total, isWhole, columns } }: CalculationFacts): List {
  const { id, name, texts } = columns;
  const at = (positions: readonly number[], row: number) => texts[positions[row] ?? -1] ?? '';
  const flagsOf = (row: number) =>
    flagNames.filter((flag) => ((columns.flags[row] ?? 0) & calculationFlags[flag]) !== 0);
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
      { name: 'owner', label: 'Owner', text: (row) => at(columns.owner, row), isFacet: true },
      {
        name: 'modified',
        label: 'Last changed',
        text: (row) => day(columns.lastModified[row]),
        number: (row) => columns.lastModified[row] ?? null,
      },
      {
        name: 'flags',
        label: 'Notes',
        text: (row) => flagsOf(row).join(' '),
        number: (row) => columns.flags[row] ?? 0,
        cell: (row) => flagsOf(row).map((flag) => <Badge key={flag} flag={flag} />),
      },
    ],
    flags: flagNames.map((flag) => ({
      name: flag,
      label: flagLabels[flag],
      has: (row) => ((columns.flags[row] ?? 0) & calculationFlags[flag]) !== 0,
    })),
    textOf: (row) => `${name[row]} ${id[row]}`,
    sort: 'name',
    empty: 'The last snapshot holds no calculation.',
  };
}

const badges: Readonly<Record<CalculationFlag, string>> = {
  ...flagLabels,
  sameName: 'same name',
  sameLinks: 'same links',
  oldest: 'oldest',
};

function Badge({ flag }: { readonly flag: CalculationFlag }) {
  return <span class={`badge badge-${flag}`}>{badges[flag]} </span>;
}
