import type { OwnerFacts, ownedCounts } from '../../facts.ts';
import { hashOf } from '../state/hash.ts';
import type { Report } from '../state/report.ts';
import { count, day } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';
import type { Column, List } from './list.ts';

/** Who owns a row: leads to what else they own. */
export function ownerColumn(idsOf: (row: number) => readonly string[], { ownerOf }: Report): Column {
  return {
    name: 'owner',
    label: 'Owner',
    text: (row) => idsOf(row).map(ownerOf).join(', '),
    cell: (row) =>
      idsOf(row).map((id, place) => (
        <>
          {place > 0 && ', '}
          {id === '' ? '–' : <OwnerLink key={id} id={id} name={ownerOf(id)} />}
        </>
      )),
    isFacet: true,
    values: idsOf,
    labelOf: ownerOf,
  };
}

function OwnerLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <a href={hashOf('owned', { owner: id })}>
      <Text of={name} most={60} />
    </a>
  );
}

type Counted = (typeof ownedCounts)[number];

/** What is counted of each owner, and what it is called. What is wrong is selected from what they own. */
const counted: readonly (readonly [name: Counted, label: string, flag?: string])[] = [
  ['calculations', 'Calculations'],
  ['cards', 'Cards'],
  ['files', 'Files'],
  ['data_files', 'Data files'],
  ['broken_links', 'Broken links', 'broken_links'],
  ['invalid', 'Invalid', 'invalid'],
  ['missing_target', 'Missing target', 'missing_target'],
  ['affected', 'Affected', 'affected'],
  ['unused', 'Unused', 'unused'],
  ['locked', 'Locked', 'locked'],
];

const WRONG = ['broken_links', 'invalid', 'missing_target', 'affected'] as const;

export function ownerList({ list: { total, isWhole, columns } }: OwnerFacts, { ownerOf }: Report): List {
  const idAt = (row: number) => columns.id[row] ?? '';
  return {
    noun: ['owner', 'owners'],
    length: columns.id.length,
    total,
    isWhole,
    columns: [
      {
        name: 'name',
        label: 'Owner',
        text: (row) => ownerOf(idAt(row)),
        cell: (row) => <OwnerLink id={idAt(row)} name={ownerOf(idAt(row))} />,
        isHeading: true,
      },
      { name: 'id', label: 'Id', text: idAt },
      ...counted.map(
        ([name, label, flag]): Column => ({
          name,
          label,
          text: (row) => count(columns[name][row] ?? 0),
          number: (row) => columns[name][row] ?? 0,
          cell: (row) => {
            const value = columns[name][row] ?? 0;
            if (flag === undefined || value === 0) return count(value);
            return <a href={hashOf('owned', { owner: idAt(row), flag })}>{count(value)}</a>;
          },
          isNumber: true,
        }),
      ),
      {
        name: 'oldest',
        label: 'Oldest change',
        text: (row) => day(columns.oldestModified[row]),
        number: (row) => columns.oldestModified[row] ?? null,
      },
    ],
    flags: [
      {
        name: 'wrong',
        label: 'something wrong',
        meaning: 'Something that they own has broken links or a missing target, is invalid, or is affected.',
        has: (row) => WRONG.some((name) => (columns[name][row] ?? 0) > 0),
      },
    ],
    textOf: (row) => `${ownerOf(idAt(row))} ${idAt(row)}`,
    sort: '-calculations',
    empty: 'No record names an owner.',
  };
}
