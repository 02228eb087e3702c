import { createNumberedTexts, type NumberedTexts } from '../columns/numbered-texts.ts';
import { canonicalId, type Kind, kinds, type Thing } from '../rules/index.ts';

/** Numbers things from 0 in the order in which they come: its numbers are the nodes of the graph. */
export type Things = {
  readonly count: () => number;
  /** The node of a thing, which is a new one if it was not there. The id is canonical, in UTF-8. */
  readonly nodeOf: (kind: Kind, utf8: Uint8Array) => number;
  /** The same for an id as a record has it; undefined if it is no id. */
  readonly nodeOfId: (kind: Kind, utf8: Uint8Array) => number | undefined;
  /** The node of a thing that was numbered. */
  readonly find: (thing: Thing) => number | undefined;
  readonly thingAt: (node: number) => Thing;
  readonly kindAt: (node: number) => Kind;
  /** Calls `use` with where the id of a node is, as `NumberedTexts` does. */
  readonly spanOf: NumberedTexts['spanOf'];
};

/** Makes an empty numbering: some 25 bytes a thing, exact whatever the ids are. */
export function createThings(): Things {
  const texts = createNumberedTexts();
  const kindAt = (node: number): Kind => kinds[texts.tagOf(node)] ?? 'other';
  const nodeOf = (kind: Kind, utf8: Uint8Array) => texts.numberOf(utf8, kinds.indexOf(kind));
  return {
    count: texts.count,
    nodeOf,
    nodeOfId(kind, utf8) {
      if (isPlain(utf8)) return nodeOf(kind, utf8);
      const id = canonicalId(Buffer.from(utf8).toString('utf8'));
      return id === undefined ? undefined : nodeOf(kind, Buffer.from(id));
    },
    find: ({ kind, id }) => texts.find(Buffer.from(id), kinds.indexOf(kind)),
    thingAt: (node) => ({ kind: kindAt(node), id: texts.textOf(node) }),
    kindAt,
    spanOf: texts.spanOf,
  };
}

const [ZERO, NINE] = [0x30, 0x39];

/** True for digits without a leading zero, as nearly all ids are: these are canonical. */
export function isPlain(utf8: Uint8Array): boolean {
  if (utf8.length === 0 || utf8[0] === ZERO) return false;
  for (const byte of utf8) if (byte < ZERO || byte > NINE) return false;
  return true;
}
