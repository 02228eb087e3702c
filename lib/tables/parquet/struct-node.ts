import { CLOSE_OBJECT, OPEN_OBJECT, skipDeepValue } from '../../snapshot/page/json-bytes.ts';
import { type Cursor, isFilled, isMore } from './cursor.ts';
import { finderOf } from './find-name.ts';
import { type FittedNode, skipOther } from './fitted-node.ts';

/** A field of a struct: its name as on the platform. */
type Field = { readonly name: string; readonly node: FittedNode };

type StructParts = {
  readonly nodes: readonly FittedNode[];
  readonly find: ReturnType<typeof finderOf>;
  /** The definition level of a struct that is there. */
  readonly definition: number;
};

/** The bits of a number. */
const MOST_FIELDS = 31;

/** Structs of what the fields write; `definition` is the level of a struct that is there. Throws `TypeError` above 31 fields. */
export function structNode(fields: readonly Field[], definition: number): FittedNode {
  if (fields.length > MOST_FIELDS) throw new TypeError(`expected at most ${MOST_FIELDS} fields of a struct`);
  const nodes = fields.map(({ node }) => node);
  const parts = { nodes, find: finderOf(fields.map(({ name }) => name)), definition };
  const self: FittedNode = {
    read(cursor, repetition) {
      if (cursor.json.bytes[cursor.at] !== OPEN_OBJECT) skipOther(cursor, self, repetition, definition - 1);
      else if (cursor.isCareful) readCarefully(parts, cursor, repetition);
      else readQuickly(parts, cursor, repetition);
    },
    none(repetition, level) {
      for (let index = 0; index < nodes.length; index += 1) nodes[index]?.none(repetition, level);
    },
  };
  return self;
}

function readQuickly({ nodes, find, definition }: StructParts, cursor: Cursor, repetition: number): void {
  let seen = 0;
  let index = -1;
  for (let isIn = isFilled(cursor); isIn; isIn = isMore(cursor, CLOSE_OBJECT)) {
    index = find(cursor, index + 1);
    const node = nodes[index];
    const bit = 1 << index;
    if (node === undefined || (seen & bit) !== 0) {
      if (node !== undefined) cursor.repeats = true;
      cursor.fits = false;
      cursor.at = skipDeepValue(cursor.json, cursor.at, 0);
    } else {
      seen |= bit;
      node.read(cursor, repetition);
    }
  }
  for (let field = 0; field < nodes.length; field += 1)
    if ((seen & (1 << field)) === 0) nodes[field]?.none(repetition, definition);
}

/** Of fields with the same name the last one counts. */
function readCarefully({ nodes, find, definition }: StructParts, cursor: Cursor, repetition: number): void {
  const places: (number | undefined)[] = nodes.map(() => undefined);
  for (let isIn = isFilled(cursor); isIn; isIn = isMore(cursor, CLOSE_OBJECT)) {
    const index = find(cursor, -1);
    if (index === -1 || places[index] !== undefined) cursor.fits = false;
    if (index !== -1) places[index] = cursor.at;
    cursor.at = skipDeepValue(cursor.json, cursor.at, 0);
  }
  const end = cursor.at;
  for (const [index, node] of nodes.entries()) {
    const at = places[index];
    if (at === undefined) node.none(repetition, definition);
    else {
      cursor.at = at;
      node.read(cursor, repetition);
    }
  }
  cursor.at = end;
}
