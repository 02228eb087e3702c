import { JsonLimitError } from '../../json/json-limits.ts';

/** The JSON types seen so far in each field of the records. */
export type FieldTypes = Record<string, JsonType[]>;
export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** The most names of fields in one response: they are held until the run's manifest is written. */
export const MAX_NAMES = 10_000;

export const tooManyNames = (): JsonLimitError =>
  new JsonLimitError(
    `expected records with at most ${MAX_NAMES} different field names in a response, got more`,
  );

/** Collects the types of the records' top-level fields. Memory grows with the number of names, not of records. */
export function createFieldTypes(known: FieldTypes = {}) {
  const types = new Map<string, Set<JsonType>>();
  const addType = (name: string, type: JsonType) => {
    const seen = types.get(name);
    if (seen === undefined) types.set(name, new Set([type]));
    else seen.add(type);
  };
  const merge = (more: FieldTypes) => {
    for (const [name, each] of Object.entries(more)) for (const type of each) addType(name, type);
  };
  merge(known);
  return {
    /** Adds the fields of one record. */
    add(record: object): void {
      for (const [name, value] of Object.entries(record)) addType(name, jsonType(value));
    },
    /** Adds types that were seen elsewhere. */
    merge,
    /** All types seen, sorted by name and type. */
    seen: (): FieldTypes =>
      Object.fromEntries([...types].sort().map(([name, seen]) => [name, [...seen].sort()])),
  };
}

function jsonType(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'object':
      return typeof value as JsonType;
    default:
      return 'number';
  }
}
