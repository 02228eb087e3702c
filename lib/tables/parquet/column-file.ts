import type { JsonBytes } from '../../snapshot/page/json-bytes.ts';
import { addLevels, type Leaf, type LeafPlace } from './leaf.ts';
import { addBoolean, addInteger, createBooleanLeaf, createIntegerLeaf } from './number-leaves.ts';
import { createRowGroups } from './parquet-writer.ts';
import { addSpan, createTextLeaf } from './text-leaf.ts';
import { memoryOf } from './texts.ts';

type ColumnValue = string | number | bigint | boolean | null;

/** A column without lists. */
export type ColumnWriter = {
  /** Gives the row at hand a value; null, and a value of another type, is none. */
  add(value: ColumnValue): void;
  /** Gives it the text in UTF-8 that is from `start` up to `end`. */
  addSpan(source: JsonBytes, start: number, end: number): void;
};

/** The types of columns, in Hive's notation. */
type PlainTypes<Name extends string> = Readonly<Record<Name, 'string' | 'bigint' | 'boolean'>>;

/** Begins a Parquet file of values that are made here. Memory holds it and one row group. */
export function createColumnFile<Name extends string>(types: PlainTypes<Name>) {
  const leaves: Leaf[] = [];
  const columns = {} as Record<Name, ColumnWriter>;
  let bytes = 0;
  for (const [name, type] of Object.entries(types) as [Name, PlainTypes<Name>[Name]][]) {
    const { leaf, ...column } = columnOf(type, { path: [name], definition: 1, repetition: 0 }, (length) => {
      bytes += length;
    });
    leaves.push(leaf);
    columns[name] = column;
  }
  const rows = createRowGroups(types, leaves);
  return {
    columns,
    /** The file, and the next one begins. The same rows give the same bytes. */
    end: rows.end,
    /** Ends a row: each column has got a value or none. */
    endRow() {
      rows.endRow(bytes);
      bytes = 0;
    },
  };
}

function columnOf(
  type: 'string' | 'bigint' | 'boolean',
  place: LeafPlace,
  count: (bytes: number) => void,
): ColumnWriter & { readonly leaf: Leaf } {
  if (type === 'string') return textColumn(place, count);
  const leaf = type === 'bigint' ? createIntegerLeaf(place) : createBooleanLeaf(place);
  const { values, levels } = leaf;
  const none = () => addLevels(levels, 0, 0);
  return {
    leaf,
    addSpan: none,
    add(value) {
      if (type === 'boolean' && typeof value === 'boolean') addBoolean(values, 0, value);
      else if (type === 'bigint' && (typeof value === 'number' || typeof value === 'bigint'))
        addInteger(values, 0, value);
      else none();
    },
  };
}

function textColumn(place: LeafPlace, count: (bytes: number) => void) {
  const leaf = createTextLeaf(place);
  let scratch = memoryOf(FIRST_SCRATCH);
  function span(source: JsonBytes, start: number, end: number): void {
    count(end - start);
    addSpan(leaf.column, 0, source, start, end);
  }
  return {
    leaf,
    addSpan: span,
    add(value: ColumnValue) {
      if (typeof value !== 'string') {
        addLevels(leaf.levels, 0, 0);
        return;
      }
      // A UTF-16 unit takes at most three bytes.
      if (3 * value.length > scratch.bytes.length) scratch = memoryOf(3 * value.length);
      span(scratch, 0, scratch.bytes.write(value));
    },
  };
}

const FIRST_SCRATCH = 1_024;
