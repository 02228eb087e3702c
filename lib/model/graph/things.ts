import { HEAD_BYTES, type PackedTexts, textAt } from '../columns/numbered-texts.ts';
import { type Kind, kinds, type Thing } from '../rules/index.ts';

/** Things by their numbers from 0, which are the nodes of a graph. */
export type Things = {
  readonly count: number;
  readonly thingAt: (node: number) => Thing;
  readonly kindAt: (node: number) => Kind;
  /** The node of a thing; undefined if there is none. Looks at all of them. */
  readonly find: (thing: Thing) => number | undefined;
};

/** The tag of a thing's id: its kind. */
export const tagOf = (kind: Kind): number => kinds.indexOf(kind);

export function thingsIn(texts: PackedTexts): Things {
  const { bytes, starts } = texts;
  const tagged = (node: number) => (starts[node] ?? 0) + HEAD_BYTES - 1;
  const kindAt = (node: number): Kind => kinds[bytes[tagged(node)] ?? 0] ?? 'other';
  const count = starts.length - 1;
  return {
    count,
    thingAt: (node) => ({ kind: kindAt(node), id: textAt(texts, node) }),
    kindAt,
    find({ kind, id }) {
      const wanted = Buffer.concat([Buffer.of(tagOf(kind)), Buffer.from(id)]);
      for (let node = 0; node < count; node += 1) {
        const [start, end] = [tagged(node), starts[node + 1] ?? 0];
        if (end - start === wanted.length && wanted.equals(bytes.subarray(start, end))) return node;
      }
      return undefined;
    },
  };
}
