import type { Link, Reference } from './calculation.ts';

/** Who refers to whom, the other way round: read from the formulas once, and changed with them. */
export type ReferenceIndex = {
  /** Of the calculations that refer to this one, by their sequence in ascending order, what is known of the reference. */
  usersOf(id: string): readonly (readonly [user: number, valid: Link['valid']])[];
  /** Replaces what a calculation refers to. Returns the ids of all whose users are others now. */
  set(user: number, before: readonly Reference[], after: readonly Reference[]): ReadonlySet<string>;
};

export function createReferenceIndex(
  seeded: number,
  referencesOf: (sequence: number) => readonly Reference[],
): ReferenceIndex {
  let byTarget: Map<string, Map<number, Link['valid']>> | undefined;

  const add = (users: Map<string, Map<number, Link['valid']>>, user: number, all: readonly Reference[]) => {
    for (const { id, valid } of all) {
      const ofTarget = users.get(id) ?? new Map<number, Link['valid']>();
      users.set(id, ofTarget.set(user, valid));
    }
  };
  const index = () => {
    if (byTarget !== undefined) return byTarget;
    byTarget = new Map();
    for (let user = 0; user < seeded; user += 1) add(byTarget, user, referencesOf(user));
    return byTarget;
  };

  return {
    usersOf: (id) => [...(index().get(id) ?? [])].sort(([a], [b]) => a - b),
    set(user, before, after) {
      for (const { id } of before) index().get(id)?.delete(user);
      add(index(), user, after);
      return new Set([...before, ...after].map(({ id }) => id));
    },
  };
}
