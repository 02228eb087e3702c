import { arrayNode } from './array-node.ts';
import { createBooleanLeaf } from './boolean-leaf.ts';
import type { ColumnType } from './column-type.ts';
import type { FittedNode } from './fitted-node.ts';
import { createIntegerLeaf } from './integer-leaf.ts';
import type { Leaf, LeafPlace } from './leaf.ts';
import { mapNode } from './map-node.ts';
import { booleanNode, integerNode } from './scalar-nodes.ts';
import { structNode } from './struct-node.ts';
import { createTextLeaf } from './text-leaf.ts';
import { jsonNode, textNode } from './text-node.ts';

/** Makes the node of a type at a place whose parent has the levels of `place`, and adds its leaves to `leaves`. */
export function createNode(type: ColumnType, place: LeafPlace, leaves: Leaf[]): FittedNode {
  const here = { ...place, definition: place.definition + 1 };
  const added = <L extends Leaf>(leaf: L): L => {
    leaves.push(leaf);
    return leaf;
  };
  switch (type.kind) {
    case 'string':
      return textNode(added(createTextLeaf(here)));
    case 'json':
      return jsonNode(added(createTextLeaf(here)));
    case 'bigint':
    case 'timestamp':
      return integerNode(added(createIntegerLeaf(here)));
    case 'boolean':
      return booleanNode(added(createBooleanLeaf(here)));
    case 'array':
      return arrayNode(createNode(type.element, inList(here, ['list', 'element']), leaves), here);
    case 'map': {
      const key = added(createTextLeaf(inList(here, ['key_value', 'key'])));
      const value = createNode(type.value, inList(here, ['key_value', 'value']), leaves);
      return mapNode({ key, value, place: here });
    }
    case 'struct':
      return structNode(
        type.fields.map(({ name, type: field }) => ({
          name,
          node: createNode(field, { ...here, path: [...here.path, name.toLowerCase()] }, leaves),
        })),
        here.definition,
      );
    default:
      return type satisfies never;
  }
}

/** The place of what is in each entry of a list or map. */
const inList = ({ path, definition, repetition }: LeafPlace, names: readonly string[]): LeafPlace => ({
  path: [...path, ...names],
  definition: definition + 1,
  repetition: repetition + 1,
});
