import type { ColumnType } from '../catalog/hive-type.ts';
import { createBooleanLeaf } from './boolean-leaf.ts';
import { namesOf } from './find-name.ts';
import type { FittedNode } from './fitted-node.ts';
import { createIntegerLeaf } from './integer-leaf.ts';
import type { Leaf, LeafPlace } from './leaf.ts';
import { MOST_LEVEL } from './levels.ts';
import { createTextLeaf } from './text-leaf.ts';

type StructType = Extract<ColumnType, { kind: 'struct' }>;

/** The bits of a number. */
const MOST_FIELDS = 31;

/**
 * Makes the node of a type at a place whose parent has the levels of `place`, and adds its leaves to `leaves`. Throws
 * `TypeError` if a struct has more than 31 fields, or a type is nested too deeply.
 */
export function createNode(type: ColumnType, place: LeafPlace, leaves: Leaf[]): FittedNode {
  const here = { ...place, definition: place.definition + 1 };
  if (here.definition > MOST_LEVEL) throw new TypeError(`expected at most ${MOST_LEVEL} levels of a column`);
  const added = <L extends Leaf>(leaf: L): L => {
    leaves.push(leaf);
    return leaf;
  };
  switch (type.kind) {
    case 'string':
    case 'json': {
      const { column } = added(createTextLeaf(here));
      return { kind: type.kind === 'json' ? 'json' : 'text', levels: [column.levels], parts: column };
    }
    case 'bigint':
    case 'timestamp': {
      const { values } = added(createIntegerLeaf(here));
      return { kind: 'integer', levels: [values.levels], parts: values };
    }
    case 'boolean': {
      const { values } = added(createBooleanLeaf(here));
      return { kind: 'boolean', levels: [values.levels], parts: values };
    }
    case 'array': {
      const element = createNode(type.element, inList(here, ['list', 'element']), leaves);
      return { kind: 'array', levels: element.levels, parts: { element, place: here } };
    }
    case 'map': {
      const { column: key } = added(createTextLeaf(inList(here, ['key_value', 'key'])));
      const value = createNode(type.value, inList(here, ['key_value', 'value']), leaves);
      const parts = { key, value, place: here, starts: [], ends: [] };
      return { kind: 'map', levels: [key.levels, ...value.levels], parts };
    }
    case 'struct':
      return structOf(type, here, leaves);
    default:
      return type satisfies never;
  }
}

function structOf({ fields }: StructType, place: LeafPlace, leaves: Leaf[]): FittedNode {
  if (fields.length > MOST_FIELDS) throw new TypeError(`expected at most ${MOST_FIELDS} fields of a struct`);
  const nodes = fields.map(({ name, type }) =>
    createNode(type, { ...place, path: [...place.path, name.toLowerCase()] }, leaves),
  );
  const names = namesOf(fields.map(({ name }) => name));
  return {
    kind: 'struct',
    levels: nodes.flatMap(({ levels }) => levels),
    parts: { fields: nodes, names, place },
  };
}

/** The place of what is in each entry of a list or map. */
const inList = ({ path, definition, repetition }: LeafPlace, names: readonly string[]): LeafPlace => ({
  path: [...path, ...names],
  definition: definition + 1,
  repetition: repetition + 1,
});
