/** The JSON types that each field of the records has had so far. */
export type FieldTypes = Record<string, JsonType[]>;
export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** Gathers the types of the top-level fields of records; memory grows with their names, not with the records. */
export function createFieldTypes(known: FieldTypes = {}) {
  const types = new Map<string, Set<JsonType>>();
  const note = (name: string, type: JsonType) => {
    const seen = types.get(name);
    if (seen === undefined) types.set(name, new Set([type]));
    else seen.add(type);
  };
  const merge = (more: FieldTypes) => {
    for (const [name, each] of Object.entries(more)) for (const type of each) note(name, type);
  };
  merge(known);
  return {
    /** Notes the fields of one record. */
    add(record: object): void {
      for (const [name, value] of Object.entries(record)) note(name, jsonType(value));
    },
    /** Notes what was seen elsewhere. */
    merge,
    /** All that was seen, in the order of names and types. */
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
