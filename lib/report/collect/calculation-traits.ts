import type { Use } from '../../model/rules/index.ts';
import { calculationFlags } from '../facts.ts';
import { enumIn, idIn, isTrue, listIn, type Members, membersOf, NOT_STATED } from './values.ts';

/** The `valid` of each link of a calculation. */
export const validsIn = ({ links }: Members): readonly string[] =>
  listIn(links).map((link) => enumIn(membersOf(link)['valid']));

/** What a record says of itself, as the bits of `calculationFlags`. */
export function ownFlags(record: Members, valids: readonly string[], edges: readonly Use[]): number {
  const isBroken = valids.some((valid) => valid !== 'VALID' && valid !== NOT_STATED);
  const isOnCard = edges.some(({ user, used }) => user.kind === 'card' && used.kind === 'calculation');
  return (
    (isBroken ? calculationFlags.broken : 0) |
    (isOnCard ? 0 : calculationFlags.unused) |
    (isTrue(record['locked']) ? calculationFlags.locked : 0) |
    (isTrue(record['archived']) ? calculationFlags.archived : 0) |
    (isTrue(record['hidden']) ? calculationFlags.hidden : 0) |
    (isTrue(record['global']) ? calculationFlags.global : 0)
  );
}

/** The links of a calculation as a text that those with the same links have too; undefined if there are less than two. */
export function linksKey({ links }: Members): string | undefined {
  const all = new Set<string>();
  for (const link of listIn(links)) {
    const { type, id } = membersOf(membersOf(link)['resource']);
    const target = idIn(id);
    if (target !== undefined) all.add(JSON.stringify([enumIn(type), target]));
  }
  return all.size < 2 ? undefined : [...all].sort().join('\n');
}
