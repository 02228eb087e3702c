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

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Counts what users own. A user is an id as `canonicalId` writes it; `undefined` is nobody. */
export type Owners = ReturnType<typeof createOwners>;

export function createOwners() {
  const places = new Map<string, number>();
  const found: Writable<Owner>[] = [];
  const pairs = () => ({ node: growing(Uint32Array), owner: growing(Uint32Array) });
  const owned = { calculations: pairs(), cards: pairs() };

  function placeOf(user: string): number {
    const known = places.get(user);
    if (known !== undefined) return known;
    places.set(user, found.length);
    return found.push({ user_id: user, ...NOTHING }) - 1;
  }
  const ownerOf = (user: string | undefined) => (user === undefined ? undefined : found[placeOf(user)]);

  return {
    /** Counts a file or data file. */
    add(user: string | undefined, what: 'files' | 'data_files'): void {
      const owner = ownerOf(user);
      if (owner !== undefined) owner[what] += 1;
    },
    /** Counts a calculation or card. */
    addNode(user: string | undefined, what: keyof typeof owned, node: number): void {
      const owner = ownerOf(user);
      if (user === undefined || owner === undefined) return;
      owner[what] += 1;
      owned[what].node.push(node);
      owned[what].owner.push(placeOf(user));
    },
    /** What else counts of a calculation. */
    addTraits(user: string | undefined, isLocked: boolean, modifiedMs: number | undefined): void {
      const owner = ownerOf(user);
      if (owner === undefined) return;
      if (isLocked) owner.locked += 1;
      if (modifiedMs !== undefined)
        owner.oldest_modified = Math.min(owner.oldest_modified ?? modifiedMs, modifiedMs);
    },
    /** The first name counts. */
    name(user: string | undefined, name: unknown): void {
      const owner = ownerOf(user);
      if (owner !== undefined && typeof name === 'string' && name !== '') owner.name ??= name;
    },
    /** All users, in the order in which they came, once the flags of all nodes are known. */
    counted(flags: Uint8Array): readonly Owner[] {
      for (const { node, owner } of Object.values(owned))
        for (let at = 0; at < node.length(); at += 1) {
          const [bits, of] = [flags[node.at(at)] ?? 0, found[owner.at(at)]];
          if (of !== undefined)
            for (const flag of wrongFlags) if ((bits & flagBits[flag]) !== 0) of[flag] += 1;
        }
      return found;
    },
    /** The node of each card, and the place of each of its owners. */
    ofCards: () => ({ node: owned.cards.node.values(), owner: owned.cards.owner.values() }),
  };
}

const zeros = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Readonly<Record<Name, number>>;

const NOTHING = { name: null, ...zeros(ownedNames), oldest_modified: null, ...zeros(wrongFlags) };
