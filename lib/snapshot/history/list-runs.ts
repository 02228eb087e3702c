import { type Store, StoredObjectError } from '../../store/index.ts';
import { type PublishedRun, publishedRuns } from '../changes/published-runs.ts';
import { type Place, partsOf } from '../keys.ts';
import { type Manifest, manifestOf } from '../manifest.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import { readAgain } from '../read-again.ts';
import { runOfId } from '../run-id.ts';
import { sources } from '../sources/sources.ts';
import { placesIn } from './places.ts';
import { allRuns, type UnpublishedRun } from './unpublished-runs.ts';

/** A run as `runs --json` prints it: null where nobody knows, or where there is nothing to say. */
export type ListedRun = {
  readonly source: Place;
  readonly run: string;
  readonly state: 'published' | UnpublishedRun['state'];
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly durationMs: number | null;
  readonly records: number | null;
  /** Null for a first run, which was not compared with any. */
  readonly against: string | null;
  readonly added: number | null;
  readonly removed: number | null;
  readonly changed: number | null;
  readonly consistency: Manifest['consistency'] | null;
  /** How many pages kept reporting that they may lack rows. */
  readonly degradedPages: number | null;
  readonly forced: boolean;
  readonly refused: readonly string[];
  /** What is missing or damaged of it, in words. */
  readonly fault: string | null;
};

type RunsToList = {
  readonly store: Store;
  /** Default: every source, or with `all` every place. */
  readonly place: Place | undefined;
  /** Also runs that are not published. */
  readonly all: boolean;
  /** The most of each place. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
};

/** `broken`: what is missing or damaged, in words; `left`: how many runs there are above the limit. */
export type FoundRuns = {
  readonly listed: readonly ListedRun[];
  readonly broken: readonly string[];
  readonly left: number;
};

/** The runs of each place, newest first. What is missing or damaged of one run is named, and spoils no other. */
export const findRuns = (options: RunsToList): Promise<FoundRuns> =>
  readAgain(
    () => findOnce(options),
    ({ broken }) => broken,
  );

async function findOnce({ store, place, all, limit, signal }: RunsToList): Promise<FoundRuns> {
  const places = place !== undefined ? [place] : all ? await placesIn(store) : sources;
  const [listed, broken]: [ListedRun[], string[]] = [[], []];
  let left = 0;
  for (const each of places) {
    const last = await readLastPublication(store, each);
    if (last.broken !== undefined) broken.push(`${each}: ${last.broken}; ${toRepair(each)}`);
    // Without `latest.json` nobody knows which runs were published.
    const published = last.latest === undefined ? [] : await publishedRuns(store, each, { signal });
    const { latest } = last;
    const runs = all ? await allRuns({ store, place: each, latest, published, signal }) : published;
    left += Math.max(0, runs.length - limit);
    for (const run of runs.slice(0, limit)) {
      signal?.throwIfAborted();
      const found = 'state' in run ? ofUnpublished(each, run) : await ofPublished(store, each, run);
      listed.push(found);
      // What is wrong with the last published run was said above.
      if (found.fault !== null && found.run !== last.latest?.run)
        broken.push(`${each}: ${found.fault}; no other run is affected`);
    }
  }
  return { listed, broken, left };
}

/** How a place is published again whose last run is missing or damaged. */
function toRepair(place: Place): string {
  const { source, name } = partsOf(place);
  const as = name === undefined ? '' : ` --as ${name}`;
  return `to publish a new run without comparing: platform-sync snapshot ${source}${as} … --force, or platform-sync publish ${place} RUN --force`;
}

async function ofPublished(store: Store, source: Place, { run, manifest }: PublishedRun): Promise<ListedRun> {
  try {
    const found = await manifestOf(store, manifest, { place: source, run });
    return { ...ofManifest(source, found), state: 'published' };
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    const { startedAt } = runOfId(run);
    return { ...UNKNOWN, source, run, startedAt, state: 'published', fault: error.message };
  }
}

function ofUnpublished(source: Place, found: UnpublishedRun): ListedRun {
  const { run, startedAt, state } = found;
  if ('manifest' in found) return { ...ofManifest(source, found.manifest), state };
  const known = 'fault' in found ? { fault: found.fault } : { records: found.records };
  return { ...UNKNOWN, source, run, startedAt, state, ...known };
}

function ofManifest(source: Place, manifest: Manifest): Omit<ListedRun, 'state'> {
  const { run, startedAt, finishedAt, records, changes, consistency, forced, refused } = manifest;
  const { degradedPages = 0 } = manifest;
  const { against = null, added = null, removed = null, changed = null } = changes ?? {};
  const durationMs = Date.parse(finishedAt) - Date.parse(startedAt);
  return {
    ...{ source, run, startedAt, finishedAt, durationMs, records },
    ...{ against, added, removed, changed, consistency, degradedPages, forced, refused, fault: null },
  };
}

/** Of a run without a manifest that can be read. */
const UNKNOWN = {
  ...{ finishedAt: null, durationMs: null, records: null },
  ...{ against: null, added: null, removed: null, changed: null },
  ...{ consistency: null, degradedPages: null, forced: false, refused: [], fault: null },
} as const;
