import { printExact } from '../../base/json/index.ts';
import {
  type Change,
  fieldsOf,
  type Manifest,
  manifestOf,
  newestRefused,
  type PublishedRun,
  placesIn,
  publishedRuns,
  readLatest,
  storedChanges,
} from '../../snapshot/history/index.ts';
import { type Place, type Source, sourceDefinitions, sourceOf } from '../../snapshot/sources/index.ts';
import { StoredObjectError, unlessDamaged } from '../../store/index.ts';
import { type ChangeFacts, type ChangesFacts, MAX_LISTED, type SnapshotFacts } from '../facts.ts';
import { type Reading, shownText } from './values.ts';

/** Maximum runs in the history of a place. */
const MAX_RUNS = 30;

/** Reads every place that has a published run, in the order of the sources. A damaged object is reported as a fault. */
export async function readSnapshots(options: Reading) {
  const found: NonNullable<Awaited<ReturnType<typeof readSnapshot>>>[] = [];
  for (const place of await placesIn(options.store)) {
    options.signal.throwIfAborted();
    const orFault = unlessDamaged((fault) => options.addFault(`${place}: ${fault}`));
    const snapshot = await readSnapshot(place, { ...options, orFault }).catch(orFault);
    if (snapshot !== undefined) found.push(snapshot);
  }
  return found;
}

type ReadingPlace = Reading & { readonly orFault: (error: unknown) => undefined };

async function readSnapshot(place: Place, options: ReadingPlace) {
  const { store, signal, orFault } = options;
  const latest = await readLatest(store, place);
  if (latest === undefined) return undefined;
  const manifest = await manifestOf(store, latest.manifest, { place, run: latest.run });
  const published = (await publishedRuns(store, place, { signal }).catch(orFault)) ?? [];
  const refused = await newestRefused({ store, place, latest, published, signal }).catch(orFault);
  const manifests = await readManifests(place, published, options);
  const { run, records, totals, consistency, forced, missing } = manifest;
  const facts: SnapshotFacts = {
    place,
    source: sourceOf(place),
    ...timesOf(manifest),
    run,
    records,
    totals,
    consistency,
    forced,
    missing: missing.slice(0, MAX_LISTED),
    missingTotal: missing.length,
    refused,
    history: manifests.map(runFacts).reverse(),
    changes: await readChanges({ ...options, place, manifest }),
  };
  return { manifest, facts };
}

/** The manifests of the last published runs, newest first. */
async function readManifests(
  place: Place,
  published: readonly PublishedRun[],
  { store, signal, orFault }: ReadingPlace,
): Promise<readonly Manifest[]> {
  const manifests: Manifest[] = [];
  for (const { run, manifest: key } of published.slice(0, MAX_RUNS)) {
    signal.throwIfAborted();
    const manifest = await manifestOf(store, key, { place, run }).catch(orFault);
    if (manifest !== undefined) manifests.push(manifest);
  }
  return manifests;
}

const timesOf = ({ startedAt, finishedAt }: Manifest) => ({
  startedAt: Date.parse(startedAt) || 0,
  finishedAt: Date.parse(finishedAt) || 0,
});

function runFacts(manifest: Manifest): SnapshotFacts['history'][number] {
  const { run, records, changes, calls } = manifest;
  const { added, removed, changed } = changes ?? { added: 0, removed: 0, changed: 0 };
  return { run, ...timesOf(manifest), records, added, removed, changed, ...calls };
}

/** How many characters a value and all changes of a place may have, and how many fields of a record are shown. */
const MAX_VALUE_LENGTH = 2_000;
const MAX_CHARACTERS = 1_000_000;
const MAX_FIELDS = 50;

/** Reads the changes of the last published run; undefined if it was not compared, or if the changes have expired. */
export async function readChanges(
  options: Reading & { readonly place: Place; readonly manifest: Manifest },
): Promise<ChangesFacts | undefined> {
  const { store, place, manifest, addFault, signal } = options;
  if (manifest.changes === null) return undefined;
  const { key: _, ...counts } = manifest.changes;
  const listed: ChangeFacts[] = [];
  const facts = { ...counts, listed };
  if (counts.added + counts.removed + counts.changed === 0) return facts;
  try {
    const changes = await storedChanges({ store, changes: manifest.changes, signal });
    if (changes === undefined) {
      addFault(`${place}: the changes of run ${manifest.run} have expired`);
      return undefined;
    }
    let characters = 0;
    for await (const change of changes) {
      signal.throwIfAborted();
      const shown = shownChange(sourceOf(place), change);
      characters += JSON.stringify(shown).length;
      if (listed.length >= MAX_LISTED || characters > MAX_CHARACTERS) break;
      listed.push(shown);
    }
  } catch (error) {
    const left = `${listed.length} of its changes are in the report`;
    unlessDamaged((fault) => addFault(`${place}: ${fault}; ${left}`))(error);
  }
  return facts;
}

/**
 * Turns a change into the form of the report: with the label of the record and, for a changed record, the fields that
 * differ, with their values as JSON. Throws `StoredObjectError` if it is not a change of a record.
 */
export function shownChange(
  source: Source,
  change: Change,

  /** How many fields of a record, and characters of a value, to show at most. */
  { fields: maxFields, value: maxLength }: { readonly fields: number; readonly value: number } = {
    fields: MAX_FIELDS,
    value: MAX_VALUE_LENGTH,
  },
): ChangeFacts {
  try {
    const before = 'before' in change ? fieldsOf(change.before) : undefined;
    const after = 'after' in change ? fieldsOf(change.after) : undefined;
    const label = (after ?? before)?.get(sourceDefinitions[source].records.label);
    const names = change.change === 'changed' ? change.fields.slice(0, maxFields) : [];
    const valueIn = (fields: ReadonlyMap<string, unknown> | undefined, name: string): string | null =>
      fields?.has(name) ? shownText(printExact(fields.get(name)), maxLength) : null;
    return {
      change: change.change,
      key: shownText(change.key),
      label: typeof label === 'string' ? shownText(label) : '',
      fields: names.map((name) => ({
        name: shownText(name),
        before: valueIn(before, name),
        after: valueIn(after, name),
      })),
    };
  } catch (cause) {
    throw new StoredObjectError('invalid', 'expected a change, got something else', { cause });
  }
}
