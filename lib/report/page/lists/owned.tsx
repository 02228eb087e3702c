import { calculationFlags } from '../../facts.ts';
import { NodeLink } from '../parts/node-link.tsx';
import type { Report } from '../state/report.ts';
import { day } from '../text/numbers.ts';
import { flagged } from './flags.tsx';
import type { List } from './list.ts';
import { ownerColumn } from './owners.tsx';

/** What may be wrong with what somebody owns. Cards have the model's flags alone. */
const { broken_links, invalid, missing_target, affected, unused, locked } = calculationFlags;
const ownedBits = { broken_links, invalid, missing_target, affected, unused, locked };
const CARD_BITS = missing_target | affected;

/** A calculation or card of somebody. */
type Owned = {
  readonly kind: 'calculation' | 'card';
  readonly id: string;
  readonly name: string;
  readonly owners: readonly string[];
  readonly flags: number;
  readonly modified: number | null;
};

function* ownedIn({ facts: { calculations, cards } }: Report): Generator<Owned> {
  if (calculations !== undefined) {
    const { id: ids, name, owner, texts, flags, lastModified } = calculations.list.columns;
    for (const [row, id] of ids.entries())
      yield {
        ...{ kind: 'calculation', id, name: name[row] ?? '', owners: [texts[owner[row] ?? -1] ?? ''] },
        ...{ flags: flags[row] ?? 0, modified: lastModified[row] ?? null },
      };
  }
  if (cards === undefined) return;
  const { id: ids, title, owners, texts, flags } = cards.list.columns;
  for (const [row, id] of ids.entries())
    yield {
      ...{
        kind: 'card',
        id,
        name: title[row] ?? '',
        owners: (owners[row] ?? []).map((at) => texts[at] ?? ''),
      },
      ...{ flags: (flags[row] ?? 0) & CARD_BITS, modified: null },
    };
}

/** The calculations and cards that somebody owns, with what is wrong with them. */
export function ownedList(report: Report): List | undefined {
  const { calculations, cards } = report.facts;
  if (calculations === undefined && cards === undefined) return undefined;
  const things = [...ownedIn(report)];
  const notes = flagged(ownedBits, (row) => things[row]?.flags ?? 0);
  const total = (calculations?.total ?? 0) + (cards?.total ?? 0);
  return {
    noun: ['thing', 'things'],
    length: things.length,
    total,
    isWhole: things.length === total,
    which: 'most notable',
    columns: [
      {
        name: 'name',
        label: 'Name',
        text: (row) => things[row]?.name ?? '',
        cell: (row) => things[row] && <NodeLink {...things[row]} />,
        isHeading: true,
      },
      { name: 'kind', label: 'Kind', text: (row) => things[row]?.kind ?? '', isFacet: true },
      { name: 'id', label: 'Id', text: (row) => things[row]?.id ?? '' },
      ownerColumn((row) => things[row]?.owners ?? [], report),
      {
        name: 'modified',
        label: 'Last changed',
        text: (row) => day(things[row]?.modified),
        number: (row) => things[row]?.modified ?? null,
      },
      notes.column,
    ],
    flags: notes.flags,
    textOf: (row) => `${things[row]?.name} ${things[row]?.id}`,
    sort: '-flags',
    empty: 'The last snapshots hold no calculation and no card.',
  };
}
