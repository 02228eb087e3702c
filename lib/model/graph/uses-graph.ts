import { freeMemory } from '../../bytes/free-memory.ts';
import { growing } from '../../bytes/growing.ts';
import { asBytes, asText, type RowGroup } from '../columns/read-columns.ts';
import {
  isBroken,
  type Kind,
  kinds,
  type Relation,
  relations,
  type Statement,
  statements,
} from '../rules/index.ts';
import { adjacencyOf } from './closure.ts';
import type { Things } from './things.ts';

/** Who uses whom, each pair once: edge `i` says that node `user[i]` uses node `used[i]`. */
export type UsesGraph = {
  readonly user: Uint32Array;
  readonly used: Uint32Array;
  readonly relationAt: (edge: number) => Relation;
  /** The node whose record states it: that of a calculation states which cards use it. */
  readonly staterAt: (edge: number) => number;
  /** What its link says of itself, as sent; null if it says nothing. */
  readonly validityAt: (edge: number) => string | null;
  readonly isBrokenAt: (edge: number) => boolean;
  /** The field that states it first. */
  readonly statedByAt: (edge: number) => Statement;
};

/** Collects the uses of parts. */
export type UsesCollector = {
  /** Adds the rows that `makeUses` wrote; none of a row group that is damaged. The same rows may be added again. */
  readonly add: (group: RowGroup) => Promise<void>;
  /** All of them, each pair once: as the first says, with the first validity that is broken, or else the first. */
  readonly graph: () => UsesGraph;
};

/** The relation is in the lowest bits, then what states it, then the number of the validity. */
const [STATED_BY, VALIDITY] = [3, 6];

/** Memory: 10 bytes a use, and at the end 8 more. */
export function createUsesCollector(things: Things): UsesCollector {
  const [user, used, said] = [growing(Uint32Array), growing(Uint32Array), growing(Uint16Array)];
  const validities = createValidities();

  async function readNodes(group: RowGroup, which: 'user' | 'used') {
    const kindsOf = await group.texts(`${which}_kind`, kindNamed);
    return { kindsOf, ids: await group.texts(`${which}_id`, asBytes), rows: group.rows };
  }

  function addNodes(nodes: typeof user, { kindsOf, ids, rows }: Awaited<ReturnType<typeof readNodes>>): void {
    let [kind, id, node]: [Kind, Uint8Array, number] = ['other', NOTHING, 0];
    for (let row = 0; row < rows; row += 1) {
      const [nextKind, nextId] = [kindsOf[row] ?? 'other', ids[row] ?? NOTHING];
      if (nextKind !== kind || nextId !== id) node = things.nodeOf(nextKind, nextId);
      [kind, id] = [nextKind, nextId];
      nodes.push(node);
    }
  }

  return {
    async add(group) {
      const [users, targets] = [await readNodes(group, 'user'), await readNodes(group, 'used')];
      const relation = await group.texts('relation', placeIn(relations));
      const statedBy = await group.texts('stated_by', placeIn(statements));
      const validity = await group.texts('validity', (utf8) => validities.numberOf(asText(utf8)));
      // All columns were read: a damaged one adds nothing.
      addNodes(user, users);
      addNodes(used, targets);
      for (let row = 0; row < group.rows; row += 1)
        said.push(
          (relation[row] ?? 0) | ((statedBy[row] ?? 0) << STATED_BY) | ((validity[row] ?? 0) << VALIDITY),
        );
    },
    graph() {
      const all = { nodes: things.count(), user: user.values(), used: used.values(), said: said.values() };
      const count = keepFirst(all, validities.isBroken);
      const [from, to] = [all.user.subarray(0, count), all.used.subarray(0, count)];
      const validity = (edge: number) => (all.said[edge] ?? 0) >> VALIDITY;
      const relationAt = (edge: number) => relations[(all.said[edge] ?? 0) & EIGHT] ?? 'links to';
      return {
        user: from,
        used: to,
        relationAt,
        staterAt: (edge) => (relationAt(edge) === 'uses' ? to[edge] : from[edge]) ?? 0,
        statedByAt: (edge) => statements[((all.said[edge] ?? 0) >> STATED_BY) & EIGHT] ?? 'links',
        validityAt: (edge) => validities.textOf(validity(edge)),
        isBrokenAt: (edge) => validities.isBroken(validity(edge)),
      };
    },
  };
}

const NOTHING = new Uint8Array(0);
const EIGHT = 7;

const kindNamed = (utf8: Uint8Array): Kind => kinds.find((kind) => kind === asText(utf8)) ?? 'other';

/** The place of a text in a list; of any other, that of the last one. */
function placeIn(list: readonly string[]) {
  return (utf8: Uint8Array) => {
    const place = list.indexOf(asText(utf8));
    return place === -1 ? list.length - 1 : place;
  };
}

type AllUses = {
  readonly nodes: number;
  readonly user: Uint32Array;
  readonly used: Uint32Array;
  readonly said: Uint16Array;
};

/** Moves the first use of each pair to the front, with what all of the pair say; returns how many there are. */
function keepFirst(
  { nodes, user, used, said }: AllUses,
  isBrokenNumber: (number: number) => boolean,
): number {
  const { starts, edges } = adjacencyOf({ nodes, from: user, to: used });
  // The edge, and 1 more, by which the user at hand first uses a node.
  const first = new Uint32Array(nodes);
  const isRepeated = new Uint8Array(user.length);
  for (let node = 0; node < nodes; node += 1)
    for (let at = starts[node] ?? 0; at < (starts[node + 1] ?? 0); at += 1) {
      const edge = edges[at] ?? 0;
      const before = (first[used[edge] ?? 0] ?? 0) - 1;
      if (before === -1 || user[before] !== node) first[used[edge] ?? 0] = edge + 1;
      else {
        isRepeated[edge] = 1;
        said[before] = worseOf(said[before] ?? 0, said[edge] ?? 0, isBrokenNumber);
      }
    }
  let count = 0;
  for (let edge = 0; edge < user.length; edge += 1) {
    if (isRepeated[edge] === 1) continue;
    user[count] = user[edge] ?? 0;
    used[count] = used[edge] ?? 0;
    said[count] = said[edge] ?? 0;
    count += 1;
  }
  for (const memory of [starts, edges, first, isRepeated]) freeMemory(memory);
  return count;
}

/** What the first of two says, with the validity of the second if that is worse. */
function worseOf(first: number, second: number, isBrokenNumber: (number: number) => boolean): number {
  const [before, after] = [first >> VALIDITY, second >> VALIDITY];
  const isWorse = before === 0 || (!isBrokenNumber(before) && isBrokenNumber(after));
  return isWorse ? (first & ((1 << VALIDITY) - 1)) | (after << VALIDITY) : first;
}

/** So many different texts of links are held as they are; any more read as `OTHER`. */
const MOST_TEXTS = 1_000;
const OTHER = 'not VALID';

/** Numbers what links say of themselves: 0 is nothing. */
function createValidities() {
  const texts: (string | null)[] = [null];
  const broken = [false];
  const numbers = new Map<string, number>();
  function numberOf(text: string): number {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    if (texts.length > MOST_TEXTS && text !== OTHER && isBroken(text)) return numberOf(OTHER);
    numbers.set(text, texts.length);
    broken.push(isBroken(text));
    return texts.push(text) - 1;
  }
  return {
    numberOf,
    textOf: (number: number): string | null => texts[number] ?? null,
    isBroken: (number: number): boolean => broken[number] === true,
  };
}
