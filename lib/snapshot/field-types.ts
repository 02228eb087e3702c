/** The JSON types that each field of the records has had so far. */
export type FieldTypes = Record<string, JsonType[]>;
export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** Gathers the types of the top-level fields of records; memory grows with their names, not with the records. */
export function createFieldTypes(): { add(record: object): void; seen(): FieldTypes } {
  const types = new Map<string, Set<JsonType>>();
  return {
    add(record) {
      for (const [name, value] of Object.entries(record)) {
        const seen = types.get(name);
        if (seen === undefined) types.set(name, new Set([jsonType(value)]));
        else seen.add(jsonType(value));
      }
    },
    seen: () => Object.fromEntries([...types].sort().map(([name, seen]) => [name, [...seen].sort()])),
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
