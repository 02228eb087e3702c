import { canonicalJson } from '../../base/json/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import { requestedId, runKeys } from '../changes/line-members.ts';
import { type Place, placeOf, splitPlace } from '../keys.ts';
import { type Manifest, placesIn } from '../manifest.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import { describeIds } from '../run/begin-run.ts';
import { linkedTo, placeOfRequest, requestSchemasWith, type SnapshotRequest } from '../sources/request.ts';
import { sourceDefinitions, sources } from '../sources/sources.ts';

/** A place to take again, and the request that does so. */
type PlaceToTake = { readonly place: Place; readonly request: () => Promise<SnapshotRequest> };

/** The places that have a published run. If no place has one: the sources that can be requested without options. */
export async function placesToTake(
  store: Store,
  signal?: AbortSignal | undefined,
): Promise<readonly PlaceToTake[]> {
  const places: PlaceToTake[] = [];
  for (const place of await placesIn(store)) {
    const { etag, manifest, broken = '' } = await readLastPublication(store, place);
    const request = async () => {
      if (manifest === undefined) throw new StoredObjectError('invalid', broken);
      return requestAgain(place, manifest, { store, signal });
    };
    if (etag !== undefined) places.push({ place, request });
  }
  if (places.length > 0) return places;
  const schemas = requestSchemasWith({});
  return sources.flatMap((source) => {
    const { success, data } = schemas[source].safeParse({ source });
    return success ? [{ place: source, request: async () => data }] : [];
  });
}

/**
 * The request that takes the place of a published run again. Throws `StoredObjectError` if the run has too many
 * ids for its manifest and they cannot be derived from its records.
 */
async function requestAgain(
  place: Place,
  published: Pick<Manifest, 'run' | 'selection' | 'parts' | 'missing'>,
  options: { readonly store: Store; readonly signal?: AbortSignal | undefined },
): Promise<SnapshotRequest> {
  const { source, name } = splitPlace(place);
  const { selection } = published;
  const request: Record<string, unknown> = { ...selection, source };
  const { ids } = sourceDefinitions[source];
  if (ids !== undefined && linkedTo(source, selection) !== undefined) delete request[ids.field];
  else if (ids !== undefined && !Array.isArray(selection[ids.field]))
    request[ids.field] = await idsOfRun(place, published, ids.field, options);
  const unnamed = request as unknown as SnapshotRequest;
  // If the place is named after the selection, the selection leads to the same place.
  return name === undefined || isNamedBySelection(place, unnamed) ? unnamed : { ...unnamed, as: name };
}

/** Whether a place has the name that a narrowed request gets without `as`: one derived from its selection. */
export const isNamedBySelection = (place: Place, { as: _, ...request }: SnapshotRequest): boolean =>
  place !== placeOf(request.source, undefined) && placeOfRequest(request as SnapshotRequest) === place;

/**
 * The ids of a run whose manifest has only their number and hash. They can be collected if each id has a record or is
 * listed as missing.
 */
async function idsOfRun(
  place: Place,
  { run, selection, parts, missing }: Pick<Manifest, 'run' | 'selection' | 'parts' | 'missing'>,
  field: string,
  { store, signal }: { readonly store: Store; readonly signal?: AbortSignal | undefined },
): Promise<readonly string[]> {
  const { source } = splitPlace(place);
  const { key } = sourceDefinitions[source].records;
  const found = new Set(missing.map(({ id }) => id));
  for await (const keys of runKeys({ store, source, run: { parts }, signal }))
    for (const each of keys) found.add(requestedId(key, each));
  const ids = [...found].sort();
  if (canonicalJson(describeIds(ids)) === canonicalJson(selection[field])) return ids;
  throw new StoredObjectError(
    'invalid',
    `${place}: the manifest of run ${run} has only a hash of its ${field}, and its records do not contain all of them; take the snapshot again with the same list of ids`,
  );
}
