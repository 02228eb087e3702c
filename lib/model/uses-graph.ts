import { freeMemory, growing, type JsonBytes, jsonBytesOf } from '../base/json/index.ts';
import { createTexts, memoryOf, numberOfText, SHORT_BYTES } from '../tables/parquet/index.ts';
import { adjacencyOf } from './rules/closure.ts';
import {
  isBroken,
  type Kind,
  kinds,
  type Relation,
  relations,
  type Statement,
  statements,
  type Thing,
  type Use,
} from './rules/record-rules.ts';

/**
 * Things and their uses, as they are stored. Things are numbered (nodes); edge `i` says that node `user[i]` uses
 * `used[i]`.
 */
export type PackedUses = {
  /** The ids of the things; the tag of each is the index of its kind. */
  readonly things: PackedStrings;
  readonly user: Uint32Array;
  readonly used: Uint32Array;
  /** The attributes of each edge, in bits (see `STATED_BY`). */
  readonly linkAttributes: Uint32Array;
  /** The validities of links, by number; number 0 is null, no validity. */
  readonly validities: readonly (string | null)[];
};

/**
 * The bits of `linkAttributes`, from the lowest: three for the relation, three for the field that states it, the three
 * marks below, and the rest for the number of the validity. These are the positions of the field and of the validity.
 */
const STATED_BY = 3;
/** Set if the user's own record states the use, not only a link in the record of the used thing. */
const CONFIRMED = 1 << 6;
/** Set if a link that is not VALID is in the user's record, or in the record of the used thing. */
const BROKEN_BY_USER = 1 << 7;
const BROKEN_BY_USED = 1 << 8;
const VALIDITY = 9;
const THREE_BITS = 7;

/** The uses of a model, opened for queries. Edges and nodes are numbers. */
export type UsesGraph = ReturnType<typeof graphIn>;

/** Opens packed uses for queries. */
export function graphIn({ user, used, linkAttributes, validities }: PackedUses) {
  const broken = validities.map(isBroken);
  const attributesAt = (edge: number) => linkAttributes[edge] ?? 0;
  /** The first field that states the use. */
  const statedByAt = (edge: number): Statement =>
    statements[(attributesAt(edge) >> STATED_BY) & THREE_BITS] ?? 'links';
  const relationAt = (edge: number): Relation => relations[attributesAt(edge) & THREE_BITS] ?? 'links to';
  return {
    user,
    used,
    relationAt,
    /** The node whose record states the use, and so its validity. */
    staterAt: (edge: number) =>
      (isStatedByUsed(relationAt(edge), statedByAt(edge)) ? used[edge] : user[edge]) ?? 0,
    /** Whether the user's record has a link that is not VALID for this use. */
    isBrokenByUser: (edge: number) => (attributesAt(edge) & BROKEN_BY_USER) !== 0,
    isBrokenByUsed: (edge: number) => (attributesAt(edge) & BROKEN_BY_USED) !== 0,
    statedByAt,
    /** Whether only a link states that one calculation refers to another; then the direction may be wrong. */
    isByLinkAlone: (edge: number) =>
      relationAt(edge) === 'refers to' && (attributesAt(edge) & CONFIRMED) === 0,
    /** The validity that the link states, as sent; null without a validity. */
    validityAt: (edge: number) => validities[attributesAt(edge) >> VALIDITY] ?? null,
    isBrokenAt: (edge: number) => broken[attributesAt(edge) >> VALIDITY] === true,
  };
}

/** Reads packed things by their numbers; 0 is the first. A thing's number is its node in the graph. */
export function thingsIn(texts: PackedStrings) {
  const { bytes, starts } = texts;
  const tagged = (node: number) => (starts[node] ?? 0) + HEAD_BYTES - 1;
  const kindAt = (node: number): Kind => kinds[bytes[tagged(node)] ?? 0] ?? 'other';
  const count = starts.length - 1;
  return {
    count,
    thingAt: (node: number): Thing => ({ kind: kindAt(node), id: stringAt(texts, node) }),
    kindAt,
    /** The node of a thing; undefined if it is absent. It searches all nodes. */
    find({ kind, id }: Thing): number | undefined {
      const wanted = Buffer.concat([Buffer.of(kinds.indexOf(kind)), Buffer.from(id)]);
      for (let node = 0; node < count; node += 1) {
        const start = tagged(node);
        const end = starts[node + 1] ?? 0;
        if (end - start === wanted.length && wanted.equals(bytes.subarray(start, end))) return node;
      }
      return undefined;
    },
  };
}

/** The attribute bits of a use, without the bits of its validity. */
const attributesOf = ({ relation, statedBy, validity }: Use): number =>
  relations.indexOf(relation) |
  (statements.indexOf(statedBy) << STATED_BY) |
  (isStatedByUser(statedBy) ? CONFIRMED : 0) |
  (isBroken(validity) ? (isStatedByUsed(relation, statedBy) ? BROKEN_BY_USED : BROKEN_BY_USER) : 0);

/**
 * Whether the record of the used thing states the use: a calculation's record lists the cards and calculations that use
 * it.
 */
const isStatedByUsed = (relation: Relation, statedBy: Statement): boolean =>
  relation === 'uses' || (relation === 'refers to' && !isStatedByUser(statedBy));

/** Whether a calculation's own record or formula states what it refers to. */
const isStatedByUser = (statedBy: Statement): boolean =>
  statedBy === 'functionTemplateDependencies' || statedBy === 'formula';

/** The index of each kind in `kinds`, so that it need not be searched for each link. */
const kindNumbers = Object.fromEntries(kinds.map((kind, number) => [kind, number])) as Readonly<
  Record<Kind, number>
>;

/**
 * Creates a collector of the uses of records, or of parts. Memory: about 25 bytes for each thing and 12 for each use;
 * at the end 8 more for each use.
 */
export function createUsesCollector() {
  const things = createStringNumbers();
  const user = growing(Uint32Array);
  const used = growing(Uint32Array);
  const linkAttributes = growing(Uint32Array);
  const validities = createValidities();
  const nodeOf = ({ kind, id }: Thing) => things.numberOf(Buffer.from(id), kindNumbers[kind]);
  return {
    nodeOf,
    add(use: Use): void {
      user.push(nodeOf(use.user));
      used.push(nodeOf(use.used));
      linkAttributes.push(attributesOf(use) | (validities.numberOf(use.validity) << VALIDITY));
    },
    /** Adds packed uses. Returns, for each of their nodes, the node in this collector. */
    addPacked(part: PackedUses): Uint32Array {
      const { starts } = part.things;
      const source = jsonBytesOf(part.things.bytes);
      const nodes = new Uint32Array(starts.length - 1);
      for (let node = 0; node < nodes.length; node += 1)
        nodes[node] = things.numberIn(source, (starts[node] ?? 0) + HEAD_BYTES - 1, starts[node + 1] ?? 0);
      const numbers = part.validities.map(validities.numberOf);
      for (let edge = 0; edge < part.linkAttributes.length; edge += 1) {
        const each = part.linkAttributes[edge] ?? 0;
        user.push(nodes[part.user[edge] ?? 0] ?? 0);
        used.push(nodes[part.used[edge] ?? 0] ?? 0);
        linkAttributes.push((each & ((1 << VALIDITY) - 1)) | ((numbers[each >> VALIDITY] ?? 0) << VALIDITY));
      }
      return nodes;
    },
    /**
     * Packs all uses, each pair of things only once. A pair has the attributes of its first use. Its validity is the
     * first broken one or, if none of them is broken, the first one.
     */
    pack(): PackedUses {
      // Packed first, since that frees the memory that only numbering needs.
      const packed = things.pack();
      const nodes = packed.starts.length - 1;
      const all = {
        nodes,
        user: user.values(),
        used: used.values(),
        linkAttributes: linkAttributes.values(),
      };
      const count = keepFirst(all, validities.texts.map(isBroken));
      return {
        things: packed,
        user: all.user.subarray(0, count),
        used: all.used.subarray(0, count),
        linkAttributes: all.linkAttributes.subarray(0, count),
        validities: validities.texts,
      };
    },
  };
}

/** Moves the first use of each pair to the front, merged with the pair's other uses; returns the number of pairs. */
function keepFirst(
  options: {
    readonly nodes: number;
    readonly user: Uint32Array;
    readonly used: Uint32Array;
    readonly linkAttributes: Uint32Array;
  },
  isBrokenNumber: readonly boolean[],
): number {
  const { nodes, user, used, linkAttributes } = options;
  const { starts, edges } = adjacencyOf({ nodes, from: user, to: used });
  // For each node, the edge by which the current user first uses it, plus 1.
  const first = new Uint32Array(nodes);
  const isRepeated = new Uint8Array(user.length);
  for (let node = 0; node < nodes; node += 1)
    for (let at = starts[node] ?? 0; at < (starts[node + 1] ?? 0); at += 1) {
      const edge = edges[at] ?? 0;
      const before = (first[used[edge] ?? 0] ?? 0) - 1;
      if (before === -1 || user[before] !== node) first[used[edge] ?? 0] = edge + 1;
      else {
        isRepeated[edge] = 1;
        linkAttributes[before] = worseOf(
          linkAttributes[before] ?? 0,
          linkAttributes[edge] ?? 0,
          isBrokenNumber,
        );
      }
    }
  let count = 0;
  for (let edge = 0; edge < user.length; edge += 1) {
    if (isRepeated[edge] === 1) continue;
    user[count] = user[edge] ?? 0;
    used[count] = used[edge] ?? 0;
    linkAttributes[count] = linkAttributes[edge] ?? 0;
    count += 1;
  }
  for (const memory of [starts, edges, first, isRepeated]) freeMemory(memory);
  return count;
}

/**
 * Of two calculations only one can refer to the other. So if only a link states that A uses B, and a formula states
 * that B uses A, the use that the link states is removed. The validity of the link is moved to the formula's use.
 */
export function withDirections(uses: PackedUses): PackedUses {
  const { user, used, isByLinkAlone, relationAt, isBrokenAt } = graphIn(uses);
  const pair = (from = 0, to = 0) => `${from} ${to}`;
  const stated = new Map<string, number>();
  for (const edge of user.keys())
    if (relationAt(edge) === 'refers to' && user[edge] !== used[edge] && !isByLinkAlone(edge))
      stated.set(pair(user[edge], used[edge]), edge);
  const linkAttributes = uses.linkAttributes.slice();
  const stays = (_: number, edge: number): boolean => {
    const meant = isByLinkAlone(edge) ? stated.get(pair(used[edge], user[edge])) : undefined;
    if (meant === undefined) return true;
    const validity = (linkAttributes[edge] ?? 0) & -(1 << VALIDITY);
    if (isBrokenAt(edge))
      linkAttributes[meant] =
        ((linkAttributes[meant] ?? 0) & ((1 << VALIDITY) - 1)) | BROKEN_BY_USER | validity;
    return false;
  };
  const edges = Uint32Array.from(user.keys()).filter(stays);
  const of = (all: Uint32Array) => edges.map((edge) => all[edge] ?? 0);
  return { ...uses, user: of(user), used: of(used), linkAttributes: of(linkAttributes) };
}

/**
 * Merges the attributes of two uses of a pair: the first use's attributes, with the worse validity of the two, and with
 * the marks (CONFIRMED, BROKEN_…) of both.
 */
function worseOf(first: number, second: number, isBrokenNumber: readonly boolean[]): number {
  const before = first >> VALIDITY;
  const after = second >> VALIDITY;
  const isWorse = before === 0 || (isBrokenNumber[before] === false && isBrokenNumber[after] === true);
  const of = (CONFIRMED | BROKEN_BY_USER | BROKEN_BY_USED) & (first | second);
  if (!isWorse || after === 0) return first | of;
  const isSame = (first & THREE_BITS) === (second & THREE_BITS);
  const linkAttributes = isSame ? second : (first & (CONFIRMED - 1)) | (after << VALIDITY);
  return linkAttributes | of;
}

function createValidities() {
  const texts: (string | null)[] = [null];
  const numbers = new Map<string | null, number>([[null, 0]]);
  function numberOf(text: string | null): number {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, texts.length);
    return texts.push(text) - 1;
  }
  return { texts, numberOf };
}

/**
 * Strings in one buffer. String `n` is from `starts[n]` up to `starts[n + 1]`, and begins with its length and its tag.
 */
type PackedStrings = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly starts: Uint32Array<ArrayBuffer>;
};

/** The number of bytes before the UTF-8 of a string: four of its length, and one of its tag. */
export const HEAD_BYTES = 5;

/**
 * Creates a numbering of distinct strings: each new string gets the next number; 0 is the first. Equal strings with
 * different tags count as different. Memory: 20 to 40 bytes for each string, plus the string.
 */
export function createStringNumbers() {
  const texts = createTexts();
  let scratch = memoryOf(FIRST_SCRATCH);
  return {
    /** The number of a string in UTF-8; a new string gets the next number. `tag`: 0 to 255. */
    numberOf(utf8: Uint8Array, tag = 0, start = 0, end = utf8.length): number {
      const length = end - start;
      if (length >= scratch.bytes.length) scratch = memoryOf(2 * length);
      const { bytes } = scratch;
      bytes[0] = tag;
      if (length > SHORT_BYTES) bytes.set(utf8.subarray(start, end), 1);
      else for (let at = 0; at < length; at += 1) bytes[at + 1] = utf8[start + at] ?? 0;
      return numberOfText(texts, scratch, 0, length + 1);
    },
    numberIn: (source: JsonBytes, start: number, end: number) => numberOfText(texts, source, start, end),
    /**
     * Returns all strings, without copying them. Frees all memory that only numbering needs, so no string can be added
     * afterwards.
     */
    pack(): PackedStrings {
      freeMemory(texts.table);
      freeMemory(texts.hashes);
      const { bytes, sizeBytes, distinct } = texts;
      const starts = new Uint32Array(texts.starts.buffer.transfer(4 * (distinct + 1)));
      starts[distinct] = sizeBytes;
      return { bytes: new Uint8Array(bytes.buffer.transfer(sizeBytes)), starts };
    },
  };
}

const FIRST_SCRATCH = 1_024;

const stringAt = ({ bytes, starts }: PackedStrings, number: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset).toString(
    'utf8',
    (starts[number] ?? 0) + HEAD_BYTES,
    starts[number + 1],
  );
