import type * as z from 'zod/mini';
import { faultsOf, type Hide, preview, shortened } from '../base/index.ts';

/**
 * What is wrong with a response according to its endpoint's schema: the first faults, each with its record. If
 * `isPrivate`, a fault says what kind of value it found, and does not quote it.
 */
export const shapeFaults = (
  error: z.core.$ZodError,
  json: unknown,
  { hide, isPrivate = false }: { readonly hide: Hide; readonly isPrivate?: boolean },
): readonly string[] =>
  faultsOf(error, json, {
    place: placeIn(json),
    hide,
    most: MOST_FAULTS,
    ...(isPrivate ? { show: kindOf } : {}),
  }).map((fault) => shortened(fault, LONGEST_FAULT));

/** Describes a path into a response, and names the record that it is in: `results.3.name (id 17)`. */
function placeIn(json: unknown): (path: readonly PropertyKey[]) => string {
  return (path) => {
    let at: unknown = json;
    let id: unknown;
    for (const key of path) {
      at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
      // The outermost id is the record's; objects inside it may have ids of their own.
      if (typeof at === 'object' && at !== null)
        id ??= Reflect.get(at, 'id') ?? Reflect.get(at, 'dataFileId');
    }
    const place = path.join('.') || 'the response';
    return typeof id === 'object' || id === undefined ? place : `${place} (id ${String(id)})`;
  };
}

const MOST_FAULTS = 10;
/** A fault names keys and ids from the response, which may be of any length. */
const LONGEST_FAULT = 300;

const kindOf = (value: unknown): string =>
  typeof value === 'string' ? `text of ${value.length} characters (not shown)` : preview(value);
