/** A value of an event that a pattern can match: a leaf of its JSON, or an item of an array. */
export type EventValue = string | number | boolean | null | typeof INEXACT;

/** A number of an event that a double cannot hold exactly. AWS compares its text, which no pattern can equal. */
export const INEXACT = Symbol('a number that a double does not hold exactly');

/** Whether one value of an event matches. */
export type Test = (value: EventValue) => boolean;

/** The requirement of a pattern for one field of an event. */
export type FieldPattern = {
  /** Names from the root, joined by dots: AWS does not distinguish `{"a.b": …}` from `{"a": {"b": …}}`. */
  readonly path: string;
  /** The field matches if any of these accepts one of its values. */
  readonly tests: readonly Test[];
  /** The field also matches if the event does not have it: `{"exists": false}`. */
  readonly mayBeAbsent: boolean;
};

/** A valid pattern: an event matches if all fields of one of these alternatives match. `$or` makes several. */
export type EventPattern = { readonly alternatives: readonly (readonly FieldPattern[])[] };

/** One fault of a pattern: its path, what was expected, and what was found. */
export type PatternFault = {
  readonly path: readonly (string | number)[];
  readonly expected: string;
  readonly got: unknown;
};

/** Records a fault at a path. */
export type Report = (fault: PatternFault) => void;

/** A value of the pattern, and where it is. */
export type Given = { readonly value: unknown; readonly path: readonly (string | number)[] };
