import { JsonLimitError } from '../../base/index.ts';

/** The JSON types seen so far in each field of the records. */
export type FieldTypes = Record<string, JsonType[]>;
export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null';

/** The most names of fields: they are held until the run's manifest is written, which has all of them. */
const MOST_NAMES = 10_000;

/** The most characters of these names in all: a name may be of any length. */
const MOST_CHARACTERS = 1_000_000;

/** Counts different names in `where`. What it returns throws `JsonLimitError`, and counts none, if there are too many. */
export function countNames(where: string): (more: readonly string[]) => void {
  let counted = { names: 0, characters: 0 };
  return (more) => {
    const names = counted.names + more.length;
    const characters = more.reduce((sum, name) => sum + name.length, counted.characters);
    if (names > MOST_NAMES)
      throw new JsonLimitError(
        `expected records with at most ${MOST_NAMES} different field names in ${where}, got more`,
      );
    if (characters > MOST_CHARACTERS)
      throw new JsonLimitError(
        `expected field names of at most ${MOST_CHARACTERS} characters in all in ${where}, got more`,
      );
    counted = { names, characters };
  };
}

/** Collects the types of the records' top-level fields. Throws `JsonLimitError` for more names than a run may have. */
export function createFieldTypes(known: FieldTypes = {}) {
  const types = new Map<string, Set<JsonType>>();
  const count = countNames('a run');
  function merge(more: FieldTypes): void {
    count(Object.keys(more).filter((name) => !types.has(name)));
    for (const [name, seen] of Object.entries(more))
      types.set(name, new Set([...(types.get(name) ?? []), ...seen]));
  }
  merge(known);
  return {
    /** Adds types that were seen elsewhere; none of them if there are too many names. */
    merge,
    /** All types seen, sorted by name and type. */
    seen: (): FieldTypes =>
      Object.fromEntries([...types].sort().map(([name, seen]) => [name, [...seen].sort()])),
  };
}
