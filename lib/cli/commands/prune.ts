import { needClients } from '../../base/aws/index.ts';
import { findOldJobs } from '../../jobs/index.ts';
import { sqlitePath } from '../../locations.ts';
import { needed, readSyncSettings } from '../../settings.ts';
import { planPrunes, pruneRuns } from '../../snapshot/index.ts';
import type { Place } from '../../snapshot/sources/index.ts';
import { openPartitions } from '../../tables/index.ts';
import type { FlagsOf, Run } from '../command.ts';
import { oneGiven, UsageError } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { isSure, refuseUnasked } from '../terminal/questions.ts';
import {
  type CommandResult,
  counted,
  type ExitStatus,
  firstOf,
  number,
  shown,
  size,
  type Terminal,
} from '../terminal/terminal.ts';

/** A run that is deleted, or that a dry run would delete. */
type RunToPrune = Awaited<ReturnType<typeof planPrunes>>[number]['runs'][number];

/** A run that is not deleted, with the reason in words. */
type Kept = { readonly source: Place; readonly run: string; readonly reason: string };

/**
 * Deletes old runs, or lists the runs that would be deleted. If objects of a place are missing or damaged, deletes
 * nothing of this place and exits with 3. Needs only the store, and Glue if there are partitions.
 */
export default (async ([place], flags, terminal) => {
  if (flags.jobs) return pruneOldJobs(place, flags, terminal);
  oneGiven({ '--keep': flags.keep, '--older-than': flags.olderThan }, 'needed');
  if (!flags.dryRun) refuseUnasked(flags.yes, terminal);
  const { SYNC_GLUE_DATABASE: database } = readSyncSettings(terminal.environment);
  const { signal, environment } = terminal;
  needClients(environment, ['SYNC_GLUE_DATABASE']);
  const store = await openStoreOf(terminal);
  const partitions = openPartitions({ database, store, environment });
  const plans = await planPrunes({ store, place, rule: ruleOf(flags), signal });
  const planned = plans.flatMap(({ runs }) => runs);
  const mustAsk = !flags.dryRun && !flags.yes && planned.length > 0;
  if (mustAsk) for (const run of planned) terminal.err(shown(describe(run)));
  if (mustAsk && !(await isSure(`Delete ${sums(planned)}?`, flags.yes, terminal))) return 'failed';
  const dryRun = flags.dryRun === true;
  const deleted: RunToPrune[] = [];
  const kept: Kept[] = [];
  const onRemoved = (run: RunToPrune) => {
    deleted.push(run);
    if (!flags.json) terminal.out(shown(`${dryRun ? 'would delete' : 'deleted'} ${describe(run)}`));
  };
  for (const plan of plans) {
    const { place: source, runs, broken } = plan;
    if (broken !== undefined) terminal.err(shown(`${source}: nothing deleted: ${broken}`));
    if (dryRun) for (const run of runs) onRemoved(run);
    const notDeleted = dryRun
      ? []
      : await pruneRuns({ ...plan, store, removePartition: partitions?.remove, signal, onRemoved });
    for (const each of notDeleted) kept.push({ source, ...each });
  }
  for (const { source, run, reason } of kept)
    terminal.err(shown(`${source}: ${run} is not deleted: ${reason}`));
  return {
    json: toJson(deleted, kept, dryRun),
    words: `${sums(deleted)}${dryRun ? '; nothing was deleted' : ''}`,
    ended: plans.some(({ broken }) => broken !== undefined) ? 'incomplete' : 'done',
  };
}) satisfies Run<'prune'>;

/** Deletes everything but the outcomes of old jobs from the ledger (`prune --jobs`). */
async function pruneOldJobs(
  place: Place | undefined,
  { keep, olderThan, yes, dryRun }: FlagsOf<'prune'>,
  terminal: Terminal,
): Promise<CommandResult | ExitStatus> {
  oneGiven({ '--jobs': true, 'a place': place, '--keep': keep });
  if (olderThan === undefined) throw new UsageError('--jobs needs --older-than');
  if (sqlitePath(needed(readSyncSettings(terminal.environment), 'SYNC_TABLE')) === undefined)
    throw new UsageError(
      '--jobs works only with a ledger in a file; DynamoDB deletes each job itself, 30 days after its last step',
    );
  if (!dryRun) refuseUnasked(yes, terminal);
  const { ledger, batches } = await openJobs(terminal);
  const parts = { ledger, store: batches.store, signal: terminal.signal };
  const { jobs, prune } = await findOldJobs(olderThan, parts);
  const endOf = (job: (typeof jobs)[number] | undefined) => job && new Date(job.finishedAt).toISOString();
  const oldest = endOf(jobs[0]);
  const newest = endOf(jobs.at(-1));
  const words = `${counted(jobs.length, 'job')}${oldest ? `, which ended from ${oldest} to ${newest}` : ''}`;
  const question = `Delete all but the outcomes of ${words} from the ledger?`;
  if (!dryRun && oldest && !(await isSure(question, yes, terminal))) return 'failed';
  const kept = dryRun ? [] : await prune();
  for (const line of firstOf(kept, 20))
    terminal.err(shown(`${line} is not deleted: its result is not in the store`));
  return {
    json: {
      dryRun: dryRun === true,
      jobs: jobs.length - kept.length,
      oldest: oldest ?? null,
      newest: newest ?? null,
      kept,
    },
    words: `${words}; ${dryRun ? 'nothing was' : number(jobs.length - kept.length)} deleted`,
  };
}

const ruleOf = ({ keep, olderThan }: FlagsOf<'prune'>) =>
  keep === undefined
    ? ({ kind: 'older', beforeMs: (newestMs: number) => olderThan?.(newestMs) ?? 0 } as const)
    : ({ kind: 'keep', keep } as const);

const describe = ({ place, run, state, objects, bytes }: RunToPrune) =>
  `${place} ${run} (${state}): ${counted(objects, 'object')}, ${size(bytes)}`;

const sumOf = (runs: readonly RunToPrune[], of: 'objects' | 'bytes') =>
  runs.reduce((sum, run) => sum + run[of], 0);

const sums = (runs: readonly RunToPrune[]) =>
  `${counted(runs.length, 'run')}, ${counted(sumOf(runs, 'objects'), 'object')}, ${size(sumOf(runs, 'bytes'))}`;

const toJson = (runs: readonly RunToPrune[], kept: readonly Kept[], dryRun: boolean) => ({
  dryRun,
  runs: runs.map(({ place: source, run, startedAt, state, objects, bytes }) => ({
    source,
    run,
    startedAt,
    state,
    objects,
    bytes,
  })),
  kept,
  objects: sumOf(runs, 'objects'),
  bytes: sumOf(runs, 'bytes'),
});
