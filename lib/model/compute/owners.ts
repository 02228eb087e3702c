import { growing } from '../../base/index.ts';
import { createNumberedTexts } from '../columns/numbered-texts.ts';
import { type Flag, flagBits } from '../flags.ts';
import { canonicalId } from '../rules/index.ts';

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

/** Counts what users own. A user is a number; `undefined` is nobody. */
export type Owners = ReturnType<typeof createOwners>;

export function createOwners() {
  const ids = createNumberedTexts();
  const found: Writable<Owner>[] = [];
  const pairs = () => ({ node: growing(Uint32Array), owner: growing(Uint32Array) });
  const owned = { calculations: pairs(), cards: pairs() };

  function userOf(id: string | undefined): number | undefined {
    if (id === undefined) return undefined;
    const user = ids.numberOf(Buffer.from(id));
    found[user] ??= { user_id: id, ...NOTHING };
    return user;
  }

  return {
    /** The user with an id as a record has it, as text in UTF-8 or as a value. */
    byText: (utf8: Uint8Array) => userOf(canonicalId(Buffer.from(utf8).toString('utf8'))),
    byValue: (id: unknown) => userOf(canonicalId(id)),
    /** Counts a file or data file. */
    add(user: number | undefined, what: 'files' | 'data_files'): void {
      const owner = user === undefined ? undefined : found[user];
      if (owner !== undefined) owner[what] += 1;
    },
    /** Counts a calculation or card. */
    addNode(user: number | undefined, what: keyof typeof owned, node: number): void {
      const owner = user === undefined ? undefined : found[user];
      if (user === undefined || owner === undefined) return;
      owner[what] += 1;
      owned[what].node.push(node);
      owned[what].owner.push(user);
    },
    /** What else counts of a calculation. */
    addTraits(user: number | undefined, isLocked: boolean, modifiedMs: number | undefined): void {
      const owner = user === undefined ? undefined : found[user];
      if (owner === undefined) return;
      if (isLocked) owner.locked += 1;
      if (modifiedMs !== undefined)
        owner.oldest_modified = Math.min(owner.oldest_modified ?? modifiedMs, modifiedMs);
    },
    /** The first name counts. */
    name(user: number | undefined, name: unknown): void {
      const owner = user === undefined ? undefined : found[user];
      if (owner !== undefined && typeof name === 'string' && name !== '') owner.name ??= name;
    },
    /** All users, in the order in which they came, once the flags of all nodes are known. */
    counted(flags: Uint8Array): readonly Owner[] {
      for (const { node, owner } of Object.values(owned))
        for (const [at, each] of node.values().entries()) {
          const [bits, of] = [flags[each] ?? 0, found[owner.at(at)]];
          if (of !== undefined) for (const flag of COUNTED) if ((bits & flagBits[flag]) !== 0) of[flag] += 1;
        }
      return found;
    },
    /** The node of each card, and the number of each of its owners. */
    ofCards: () => ({ node: owned.cards.node.values(), owner: owned.cards.owner.values() }),
  };
}

const NOTHING = {
  name: null,
  ...{ calculations: 0, cards: 0, files: 0, data_files: 0, locked: 0, oldest_modified: null },
  ...{ broken_links: 0, invalid: 0, missing_target: 0, affected: 0, unused: 0 },
};
