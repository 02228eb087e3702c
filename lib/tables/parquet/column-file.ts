import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';
import {
  addBoolean,
  addInteger,
  addLevels,
  createBooleanLeaf,
  createIntegerLeaf,
  type Leaf,
} from './leaf.ts';
import { createRowGroups } from './parquet-writer.ts';
import { addSpan, createTextLeaf } from './text-leaf.ts';
import { memoryOf } from './texts.ts';

export type ColumnWriter = {
  /** Gives the row at hand a value; null, and a value of another type, is none. */
  add(value: string | number | boolean | null): void;
  /** Gives it the text in UTF-8 that is from `start` up to `end`. */
  addSpan(source: JsonBytes, start: number, end: number): void;
};

type PlainTypes<Name extends string> = Readonly<Record<Name, 'string' | 'bigint' | 'boolean'>>;

/** Begins a Parquet file of values that are made here. Memory holds it and one row group. */
export function createColumnFile<Name extends string>(types: PlainTypes<Name>) {
  const leaves: Leaf[] = [];
  const columns = {} as Record<Name, ColumnWriter>;
  for (const [name, type] of Object.entries(types) as [Name, PlainTypes<Name>[Name]][]) {
    const { leaf, ...column } = type === 'string' ? textColumn(name) : numberColumn(name, type);
    leaves.push(leaf);
    columns[name] = column;
  }
  // Rows are short: their number alone ends a row group.
  const { end, endRow } = createRowGroups(types, leaves);
  return {
    columns,
    /** The file, and the next one begins. The same rows give the same bytes. */
    end,
    /** Ends a row: each column has got a value or none. */
    endRow: () => endRow(0),
  };
}

const placeOf = (name: string) => ({ path: [name], definition: 1, repetition: 0 });

function numberColumn(name: string, type: 'bigint' | 'boolean'): ColumnWriter & { readonly leaf: Leaf } {
  const leaf = type === 'bigint' ? createIntegerLeaf(placeOf(name)) : createBooleanLeaf(placeOf(name));
  const { values, levels } = leaf;
  const none = () => addLevels(levels, 0, 0);
  return {
    leaf,
    addSpan: none,
    add(value) {
      if (typeof value === 'boolean' && type === 'boolean') addBoolean(values, 0, value);
      else if (typeof value === 'number' && type === 'bigint') addInteger(values, 0, value);
      else none();
    },
  };
}

function textColumn(name: string): ColumnWriter & { readonly leaf: Leaf } {
  const leaf = createTextLeaf(placeOf(name));
  let scratch = memoryOf(FIRST_SCRATCH);
  return {
    leaf,
    addSpan: (source, start, end) => addSpan(leaf.column, 0, source, start, end),
    add(value) {
      if (typeof value !== 'string') return addLevels(leaf.levels, 0, 0);
      // A UTF-16 unit takes at most three bytes.
      if (3 * value.length > scratch.bytes.length) scratch = memoryOf(3 * value.length);
      addSpan(leaf.column, 0, scratch, 0, scratch.bytes.write(value));
    },
  };
}

const FIRST_SCRATCH = 1_024;
