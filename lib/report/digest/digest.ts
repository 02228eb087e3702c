import type { LastRun } from '../../model/index.ts';
import type { Change } from '../../snapshot/changes/change.ts';
import { describeChanges } from '../../snapshot/changes/describe-changes.ts';
import { type PublishedRun, publishedRuns } from '../../snapshot/changes/published-runs.ts';
import { storedChanges } from '../../snapshot/changes/stored-changes.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import { type Manifest, manifestOf } from '../../snapshot/manifest.ts';
import type { Source } from '../../snapshot/sources/sources.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import { type BrokenThings, brokenThings, type First, MOST_LISTED } from './broken-things.ts';

/** What is said of one published run. */
export type Digest = {
  readonly manifest: Manifest;
  /** Undefined if no changes are stored, as for a first run. */
  readonly changes:
    | {
        readonly removed: First;
        readonly added: First;
        /** What people look for first. */
        readonly changed: First;
      }
    | undefined;
  /** What is wrong by the model, and was not; null if that is not known, undefined for a source that it does not depend on. */
  readonly broken: BrokenThings | null | undefined;
  /** What could not be read, and could be the time before; undefined if the run before is not known. */
  readonly newlyMissing: First | undefined;
};

export type CollectOptions = {
  readonly store: Store;
  readonly place: Place;
  readonly run: PublishedRun;
  readonly signal?: AbortSignal | undefined;
};

/** Reads what is said of a run; memory is that of one model. Throws `StoredObjectError` for damaged objects. */
export async function collectDigest({ store, place, run, signal }: CollectOptions): Promise<Digest> {
  const manifest = await manifestOf(store, run.manifest, { place, run: run.run });
  const found = await storedChanges({ store, changes: manifest.changes, signal });
  const source = sourceOf(place);
  const before = await runBefore(store, place, manifest);
  const last = { place, source, manifest, key: run.manifest };
  return {
    manifest,
    changes: found && (await firstChanges(source, found)),
    broken: await brokenThings({ store, run: last, before, signal }),
    newlyMissing: before && newlyMissing(manifest, before.manifest),
  };
}

/** Of a record that changed, its name and a field. */
const MOST_LINES = 2;

/** Fields of any source whose change people want to know of. */
const NOTABLE = new Set(
  'archived datasourceId expression links locked name owner path scanState status title'.split(' '),
);

async function firstChanges(
  source: Source,
  changes: AsyncIterable<Change>,
): Promise<NonNullable<Digest['changes']>> {
  const linesOf = (change: Change) => cut(describeChanges(source, [change]));
  const removed = firstOf(linesOf);
  const added = firstOf(linesOf);
  const notable = firstOf(linesOf);
  const others = firstOf(linesOf);
  for await (const change of changes) {
    if (change.change === 'removed') removed.add(change);
    else if (change.change === 'added') added.add(change);
    else (change.fields.some((name) => NOTABLE.has(name)) ? notable : others).add(change);
  }
  return {
    removed: removed.first(),
    added: added.first(),
    changed: joined(notable.first(), others.first()),
  };
}

function firstOf<T>(linesOf: (item: T) => readonly string[]) {
  const items: (readonly string[])[] = [];
  let total = 0;
  return {
    add(item: T) {
      total += 1;
      if (items.length < MOST_LISTED) items.push(linesOf(item));
    },
    first: (): First => ({ total, items }),
  };
}

const joined = (a: First, b: First): First => ({
  total: a.total + b.total,
  items: [...a.items, ...b.items].slice(0, MOST_LISTED),
});

function cut(lines: readonly string[]): readonly string[] {
  const more = lines.length - MOST_LINES;
  // One that is left out takes as much room as the line that says so.
  return more <= 1 ? lines : [...lines.slice(0, MOST_LINES), `  and ${more} more fields`];
}

function newlyMissing({ missing }: Manifest, before: Pick<Manifest, 'missing'>): First {
  const known = new Set(before.missing.map(({ id }) => id));
  const list = firstOf(({ id, status }: Manifest['missing'][number]) => [`${id}: ${status}`]);
  for (const each of missing) if (!known.has(each.id)) list.add(each);
  return list.first();
}

/** The run that a run is compared with; undefined if there is none, or it was pruned or damaged. */
async function runBefore(store: Store, place: Place, { changes }: Manifest): Promise<LastRun | undefined> {
  const before = (await publishedRuns(store, place)).find(({ run }) => run === changes?.against);
  if (before === undefined) return undefined;
  try {
    const manifest = await manifestOf(store, before.manifest, { place, run: before.run });
    return { place, source: sourceOf(place), manifest, key: before.manifest };
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}
