import type { Booleans } from './boolean-leaf.ts';
import type { Names } from './find-name.ts';
import type { Integers } from './integer-leaf.ts';
import type { Levels } from './levels.ts';
import type { Reading } from './reading.ts';
import type { TextColumn } from './text-leaf.ts';

/** A column, or a part of one. It is data, and what reads it are functions of modules: those are compiled best. */
export type FittedNode =
  | NodeOf<'text', TextColumn>
  /** Text that is a value's JSON. */
  | NodeOf<'json', TextColumn>
  | NodeOf<'integer', Integers>
  | NodeOf<'boolean', Booleans>
  | NodeOf<'array', ArrayParts>
  | NodeOf<'map', MapParts>
  | NodeOf<'struct', StructParts>
  /** A value that is known, by its JSON: it has no column, and any other value does not fit. */
  | NodeOf<'known', Buffer>;

/** `levels`: of its leaves, which get something at every place. */
type NodeOf<Kind, Parts> = {
  readonly kind: Kind;
  readonly levels: readonly Levels[];
  readonly parts: Parts;
};

/** Of a list, a map or a struct that is there. */
type Place = { readonly definition: number; readonly repetition: number };

type ArrayParts = { readonly element: FittedNode; readonly place: Place };

export type MapParts = {
  readonly key: TextColumn;
  readonly value: FittedNode;
  readonly place: Place;
  /** Memory for where the keys of the map that is being read begin, and end. */
  readonly starts: number[];
  readonly ends: number[];
};

export type StructParts = {
  readonly fields: readonly FittedNode[];
  readonly names: Names;
  readonly place: Place;
};

/**
 * Writes the value at `at`, in a list or row of level `repetition`, and returns the index behind it. What does not fit is
 * null, and makes `fits` false. Throws `SyntaxError` at bytes that are not JSON.
 */
export type ReadNode = (node: FittedNode, reading: Reading, at: number, repetition: number) => number;
