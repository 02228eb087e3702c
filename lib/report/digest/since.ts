import { placesIn, publishedRuns, readAgain } from '../../snapshot/history/index.ts';
import { type Place, runOfId } from '../../snapshot/sources/index.ts';
import { type Store, StoredObjectError, unlessDamaged } from '../../store/index.ts';
import { readJobs } from '../collect/jobs.ts';
import { type Prices, readMonthCost } from '../collect/month-cost.ts';
import type { JobFacts, PlatformLinks } from '../facts.ts';
import { findReport } from '../stored-report.ts';
import { collectDigest, counted, type PrintedDigest, printDigest, safeLine } from './digest.ts';

type Digest = Awaited<ReturnType<typeof collectDigest>>;

type SinceOptions = {
  readonly store: Store;
  /** The start of the period to report on, in epoch milliseconds. */
  readonly sinceMs: number;
  /** The addresses of things in the platform. Default: no links. */
  readonly links?: PlatformLinks | undefined;
  /** The price of each call. Default: no cost is shown. */
  readonly prices?: Prices | undefined;
  /** Called with what is missing or damaged, in words; the digest covers everything else. */
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
};

/**
 * Reports in one message what has happened since a time: in all places that published a run, what changed and what
 * broke; and which jobs failed or ended with an unknown outcome. `text` is empty if there is nothing to report.
 */
export async function digestSince(options: SinceOptions) {
  const { store, sinceMs, addFault } = options;
  const digests = await newsOfPlaces(options);
  const reading = { ...options, nowMs: Date.now() };
  const { jobs } = await readJobs(reading);
  const cost = await readMonthCost(options.prices, reading);
  const failed = jobs.attention.filter(({ finishedAt }) => finishedAt >= sinceMs);
  const hasReport = (await findReport(store).catch(unlessDamaged(addFault))) !== undefined;
  const printed = digests.map((each) => printDigest(each, { location: store.location, hasReport }));
  const { text, ...message } = oneMessage(printed, failed, sinceMs);
  // The cost of the month is not news by itself.
  const withCost = [text, ...(cost === undefined || text === '' ? [] : [safeLine(cost.words)])];
  return {
    ...message,
    text: withCost.join(SEPARATOR),
    cost,
    places: digests.map(figuresOfPlace),
    jobs: failed,
  };
}

/** The digest of each place that published a run in the period, if it has any news. */
async function newsOfPlaces(options: SinceOptions): Promise<readonly Digest[]> {
  const found: Digest[] = [];
  for (const place of await placesIn(options.store)) {
    try {
      const digest = await readAgain(() => digestOf(place, options));
      if (digest !== undefined && hasNews(digest)) found.push(digest);
    } catch (error) {
      if (!(error instanceof StoredObjectError)) throw error;
      options.addFault(`${place}: ${error.message}`);
    }
  }
  return found;
}

async function digestOf(place: Place, options: SinceOptions): Promise<Digest | undefined> {
  const { store, sinceMs, links, signal } = options;
  const [run] = await publishedRuns(store, place, { signal });
  if (run === undefined || Date.parse(runOfId(run.run).startedAt) < sinceMs) return undefined;
  return collectDigest({ store, place, run: run.run, sinceMs, links, signal });
}

function hasNews({ compared, broken, newlyMissing, manifest }: Digest): boolean {
  const newly = Object.values(broken ?? {}).reduce((sum, each) => sum + (each.newly?.total ?? 0), 0);
  const changed = compared === null ? 1 : compared.added + compared.removed + compared.changed;
  return changed + newly + (newlyMissing?.total ?? 0) > 0 || manifest.forced || broken === null;
}

const SEPARATOR = `\n\n${'-'.repeat(60)}\n\n`;

function oneMessage(digests: readonly PrintedDigest[], failed: JobFacts['attention'], sinceMs: number) {
  const since = new Date(sinceMs).toISOString();
  const subjects: string[] = [];
  if (digests.length > 1) subjects.push(`Changes in ${digests.length} places`);
  else if (digests[0] !== undefined) subjects.push(digests[0].subject);
  if (failed.length > 0)
    subjects.push(
      `${counted(failed.length, 'job')} failed or ${failed.length === 1 ? 'has' : 'have'} an unknown outcome`,
    );
  const texts = digests.map(({ text }) => text);
  if (failed.length > 0) texts.push(textOfJobs(failed));
  return {
    since,
    subject: subjects.join('; ') || `Nothing new since ${since.slice(0, 16).replace('T', ' ')} UTC`,
    text: texts.join(SEPARATOR),
  };
}

const MAX_JOBS = 20;

function textOfJobs(failed: JobFacts['attention']): string {
  const lines = [`Failed and unknown jobs: ${failed.length}`];
  for (const { status, type, id, reason, advice } of failed.slice(0, MAX_JOBS))
    lines.push(`  ${safeLine(`${status}: ${type} ${id}: ${reason}`)}`, safeLine(`    ${advice}`));
  const more = failed.length - MAX_JOBS;
  if (more > 0) lines.push(`  and ${more.toLocaleString('en')} more`);
  return lines.join('\n');
}

/** The figures of a place, for `--json`. */
function figuresOfPlace({ manifest, compared, broken, newlyMissing, progress }: Digest) {
  const { source: place, run, records } = manifest;
  const flags: Record<string, unknown> = {};
  for (const [flag, { calculations, cards, newly }] of Object.entries(broken ?? {}))
    flags[flag] = { calculations, cards, new: newly?.total ?? null };
  return {
    place,
    run,
    records,
    compared,
    broken: broken ? flags : null,
    newlyMissing: newlyMissing?.total ?? null,
    progress: progress ? { now: progress.now, before: progress.before ?? null } : null,
  };
}
