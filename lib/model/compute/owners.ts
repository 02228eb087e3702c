import { growing } from '../../base/index.ts';
import { flagBits } from '../flags.ts';
import { ownedNames, wrongFlags } from '../model-columns.ts';

/** What somebody owns, and what is wrong with it. `locked`: of the calculations. */
export type Owner = Readonly<Record<(typeof ownedNames)[number] | (typeof wrongFlags)[number], number>> & {
  readonly user_id: string;
  /** As a card gives it; null if none does. */
  readonly name: string | null;
  /** When the calculation that was not touched for longest was last modified, in epoch milliseconds. */
  readonly oldest_modified: number | null;
};

type Counting = { -readonly [K in keyof Owner]: Owner[K] };

export type Owners = ReturnType<typeof createOwners>;

/** Counts what users own. A user is an id as `canonicalId` writes it. */
export function createOwners() {
  const owners = new Map<string, { readonly place: number; readonly counts: Counting }>();
  const pairs = () => ({ node: growing(Uint32Array), owner: growing(Uint32Array) });
  const owned = { calculations: pairs(), cards: pairs() };

  function ownerOf(user: string) {
    const known = owners.get(user);
    if (known !== undefined) return known;
    const owner = { place: owners.size, counts: { user_id: user, ...NOTHING } };
    owners.set(user, owner);
    return owner;
  }

  return {
    of: (user: string): Counting => ownerOf(user).counts,
    add(user: string, what: keyof typeof owned, node: number): Counting {
      const { place, counts } = ownerOf(user);
      counts[what] += 1;
      owned[what].node.push(node);
      owned[what].owner.push(place);
      return counts;
    },
    /** All users, in the order in which they came, once the flags of all nodes are known. */
    counted(flags: Uint8Array): readonly Owner[] {
      const found = Array.from(owners.values(), ({ counts }) => counts);
      for (const { node, owner } of Object.values(owned))
        for (let at = 0; at < node.length(); at += 1) {
          const [bits, of] = [flags[node.at(at)] ?? 0, found[owner.at(at)]];
          if (of !== undefined)
            for (const flag of wrongFlags) if ((bits & flagBits[flag]) !== 0) of[flag] += 1;
        }
      return found;
    },
    ofCards: () => ({ node: owned.cards.node.values(), owner: owned.cards.owner.values() }),
  };
}

const zeros = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Readonly<Record<Name, number>>;

const NOTHING = { name: null, ...zeros(ownedNames), oldest_modified: null, ...zeros(wrongFlags) };
