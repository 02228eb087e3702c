import { CLOSE_ARRAY, OPEN_ARRAY, skipSpace } from '../../snapshot/page/json-bytes.ts';
import { isMore } from './cursor.ts';
import { type FittedNode, skipOther } from './fitted-node.ts';
import type { LeafPlace } from './leaf.ts';

/** Lists of what `element` writes; `place` is that of the list. */
export function arrayNode(element: FittedNode, { definition, repetition: above }: LeafPlace): FittedNode {
  return {
    read(cursor, repetition) {
      const { bytes } = cursor.json;
      if (bytes[cursor.at] !== OPEN_ARRAY) {
        skipOther(cursor, element, repetition, definition - 1);
        return;
      }
      cursor.at = skipSpace(bytes, cursor.at + 1);
      if (bytes[cursor.at] === CLOSE_ARRAY) {
        cursor.at += 1;
        element.none(repetition, definition);
        return;
      }
      element.read(cursor, repetition);
      while (isMore(cursor, CLOSE_ARRAY)) element.read(cursor, above + 1);
    },
    none: element.none,
  };
}
