import type { ColumnType } from './hive-type.ts';
import {
  createBooleanLeaf,
  createIntegerLeaf,
  type Leaf,
  type LeafPlace,
  type Levels,
  MOST_LEVEL,
  type Numbers,
} from './leaf.ts';
import { type Names, namesOf } from './names.ts';
import { createTextLeaf, type TextColumn } from './text-leaf.ts';

/** A column, or a part of one. It is data, and what reads it are functions of a module: those are compiled best. */
export type FittedNode =
  | NodeOf<'text', TextColumn>
  /** Text as it is, and any other value's JSON. */
  | NodeOf<'json', TextColumn>
  | NodeOf<'integer', Numbers>
  | NodeOf<'boolean', Numbers>
  | NodeOf<'array', { readonly element: FittedNode }>
  | NodeOf<'map', MapParts>
  | NodeOf<'struct', StructParts>;

type NodeOf<Kind, Parts> = {
  readonly kind: Kind;
  /** Of its leaves, which get something at every place. */
  readonly levels: readonly Levels[];
  /** The definition level where it is there, and how many lists its path has. */
  readonly definition: number;
  readonly repetition: number;
  readonly parts: Parts;
};

type MapParts = {
  readonly key: TextColumn;
  readonly value: FittedNode;
  /** Of the keys that the map that is being read has had so far. */
  readonly hashes: Set<number>;
};

export type StructParts = {
  readonly fields: readonly FittedNode[];
  readonly names: Names;
  /** The definition level of what is there of the path of a field that is missing. */
  readonly definition: number;
  /** Which fields the object that is being read has had so far. */
  readonly isThere: Uint8Array;
  /** The field that mostly follows each: objects of one platform have their members in one order, which may be another. */
  readonly after: number[];
};

/** Adds the leaves of the node to `leaves`. Throws `TypeError` if a type is nested too deeply. */
export function createNode(type: ColumnType, place: LeafPlace, leaves: Leaf[]): FittedNode {
  const here = { ...place, definition: place.definition + 1 };
  if (here.definition > MOST_LEVEL) throw new TypeError(`expected at most ${MOST_LEVEL} levels of a column`);
  const { definition, repetition } = here;
  const added = <L extends Leaf>(leaf: L): L => {
    leaves.push(leaf);
    return leaf;
  };
  switch (type.kind) {
    case 'string':
    case 'json': {
      const { column } = added(createTextLeaf(here));
      const kind = type.kind === 'json' ? 'json' : 'text';
      return { kind, levels: [column.levels], definition, repetition, parts: column };
    }
    case 'bigint':
    case 'timestamp': {
      const { values } = added(createIntegerLeaf(here));
      return { kind: 'integer', levels: [values.levels], definition, repetition, parts: values };
    }
    case 'boolean': {
      const { values } = added(createBooleanLeaf(here));
      return { kind: 'boolean', levels: [values.levels], definition, repetition, parts: values };
    }
    case 'array': {
      const element = createNode(type.element, inList(here, ['list', 'element']), leaves);
      return { kind: 'array', levels: element.levels, definition, repetition, parts: { element } };
    }
    case 'map': {
      const { column: key } = added(createTextLeaf(inList(here, ['key_value', 'key'])));
      const value = createNode(type.value, inList(here, ['key_value', 'value']), leaves);
      const parts = { key, value, hashes: new Set<number>() };
      return { kind: 'map', levels: [key.levels, ...value.levels], definition, repetition, parts };
    }
    case 'struct': {
      const fields = type.fields.map((field) => ({
        name: field.name,
        node: createNode(field.type, { ...here, path: [...here.path, field.name.toLowerCase()] }, leaves),
      }));
      const levels = fields.flatMap(({ node }) => node.levels);
      return { kind: 'struct', levels, definition, repetition, parts: structOf(fields, definition) };
    }
    default:
      return type satisfies never;
  }
}

export type NamedNode = { readonly name: string; readonly node: FittedNode };

export const structOf = (fields: readonly NamedNode[], definition: number): StructParts => ({
  fields: fields.map(({ node }) => node),
  names: namesOf(fields.map(({ name }) => name)),
  definition,
  isThere: new Uint8Array(fields.length),
  after: fields.map((_, index) => index + 1),
});

/** The place of what is in each entry of a list or map. */
const inList = ({ path, definition, repetition }: LeafPlace, names: readonly string[]): LeafPlace => ({
  path: [...path, ...names],
  definition: definition + 1,
  repetition: repetition + 1,
});
