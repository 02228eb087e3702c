import { growing } from '../../base/index.ts';
import { type Flag, flagBits } from '../flags.ts';

/** The flags that are counted of what somebody owns. */
const COUNTED = ['broken_links', 'invalid', 'missing_target', 'affected', 'unused'] as const satisfies Flag[];

type Counts = Readonly<Record<(typeof COUNTED)[number], number>>;

/** What somebody owns, and what is wrong with it. */
export type Owner = Counts & {
  readonly user_id: string;
  /** As a card gives it; null if none does. */
  readonly name: string | null;
  readonly calculations: number;
  readonly cards: number;
  readonly files: number;
  readonly data_files: number;
  /** Of the calculations. */
  readonly locked: number;
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
          if (of !== undefined) for (const flag of COUNTED) if ((bits & flagBits[flag]) !== 0) of[flag] += 1;
        }
      return found;
    },
    /** The node of each card, and the place of each of its owners. */
    ofCards: () => ({ node: owned.cards.node.values(), owner: owned.cards.owner.values() }),
  };
}

const NOTHING = {
  name: null,
  ...{ calculations: 0, cards: 0, files: 0, data_files: 0, locked: 0, oldest_modified: null },
  ...{ broken_links: 0, invalid: 0, missing_target: 0, affected: 0, unused: 0 },
};
