import type { Model } from '../../model/index.ts';
import { type OwnerFacts, ownedCounts } from '../facts.ts';
import type { ListLimits } from './list-limits.ts';
import { shownText } from './values.ts';

/** Lists whoever owns something, those who own the most calculations and cards first. */
export function listOwners({ owners }: Model, { whole, top }: ListLimits): OwnerFacts {
  const total = owners.length;
  const listed = owners
    .toSorted((a, b) => b.calculations + b.cards - a.calculations - a.cards)
    .slice(0, total <= whole ? total : top);
  const columns = {
    id: listed.map(({ user_id }) => shownText(user_id)),
    name: listed.map(({ name }) => shownText(name ?? '')),
    oldestModified: listed.map(({ oldest_modified }) => oldest_modified),
    ...countsOf((name) => listed.map((owner) => owner[name])),
  };
  return { total, list: { total, isWhole: total <= whole, columns } };
}

type Counted = (typeof ownedCounts)[number];

const countsOf = (of: (name: Counted) => readonly number[]) =>
  Object.fromEntries(ownedCounts.map((name) => [name, of(name)])) as Readonly<
    Record<Counted, readonly number[]>
  >;
