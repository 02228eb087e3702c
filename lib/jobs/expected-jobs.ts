import * as z from 'zod/mini';
import { idOfSegment, keySegment, type Store } from '../store/index.ts';
import { openTable } from '../table/index.ts';
import { createLedger } from './ledger/ledger.ts';
import { jobId } from './message/check-message.ts';

/**
 * The id of a scheduled job, with its parts. The id is `NAME.TIME`: the schedule's name, which has no dots, and
 * the time in ISO 8601.
 */
const scheduledJob = (id: string) => {
  const end = id.indexOf('.');
  return { id, name: id.slice(0, end), dueMs: end > 0 ? Date.parse(id.slice(end + 1)) : Number.NaN };
};

type ScheduledJob = ReturnType<typeof scheduledJob>;

/** The event with which a schedule reports that its job is due. */
const dueEvent = z.object({
  due: jobId.check(z.refine((id) => !Number.isNaN(scheduledJob(id).dueMs), { error: 'NAME.TIME' })),
});

/** The event that starts the search for missing jobs. `functions` has the names of all schedules. */
const searchEvent = z.object({ functions: z.array(z.string()) });

/** The folder with one object for each due job. It is below `work/`, where objects expire. */
const FOLDER = 'work/expected-jobs/';
const keyOf = (id: string) => `${FOLDER}${keySegment(id)}`;

/** A job is missing if no worker has taken its message within this time. */
const OVERDUE_MS = 3_600_000;

type ExpectedJobsOptions = {
  readonly store: Store;
  /** Whether the ledger has a row of a job. */
  readonly hasArrived: (id: string) => Promise<boolean>;
  readonly now: () => number;
};

/**
 * Creates the record of due jobs of schedules. The schedules themselves report when a job is due, since times
 * computed here from their cron could differ, for example when clocks change.
 */
export function createExpectedJobs({ store, hasArrived, now }: ExpectedJobsOptions) {
  const forget = (jobs: readonly ScheduledJob[]) =>
    Promise.all(jobs.map(({ id }) => store.delete(keyOf(id))));

  async function missingOf(overdue: readonly ScheduledJob[]): Promise<readonly ScheduledJob[]> {
    const missing: ScheduledJob[] = [];
    for (const job of overdue) if (!(await hasArrived(job.id))) missing.push(job);
    const arrived = overdue.findLastIndex((job) => !missing.includes(job));
    await forget(overdue.slice(0, arrived + 1));
    return missing;
  }

  return {
    /**
     * Records the job that is due, from an event `{due: ID}`. Returns false for any other event. Throws if
     * the id is invalid.
     */
    async expect(event: unknown): Promise<boolean> {
      if (Object(event).due === undefined) return false;
      await store.put(keyOf(dueEvent.parse(event).due), Buffer.from('{}\n'));
      return true;
    },
    /**
     * Returns the jobs that have not arrived within an hour, of the schedules in the event `{functions: [NAME]}`.
     * A missing job is returned by every search until it, or a later job of its schedule, arrives. The records of
     * all other schedules are deleted.
     */
    async missing(event: unknown): Promise<readonly ScheduledJob[]> {
      const { functions } = searchEvent.parse(event);
      const due: ScheduledJob[] = [];
      for await (const { key } of store.list(FOLDER)) {
        const job = scheduledJob(idOfSegment(key.slice(FOLDER.length)) ?? '');
        if (job.dueMs <= now() - OVERDUE_MS) due.push(job);
      }
      const bySchedule = Map.groupBy(
        due.toSorted((a, b) => a.dueMs - b.dueMs),
        ({ name }) => name,
      );
      const missing: ScheduledJob[] = [];
      for (const [name, overdue] of bySchedule) {
        if (functions.includes(name)) missing.push(...(await missingOf(overdue)));
        else await forget(overdue);
      }
      return missing;
    },
  };
}

/** Opens the record of expected jobs, with the ledger in this table. */
export async function openExpectedJobs(table: string, environment: Parameters<typeof openTable>[1]) {
  const ledger = createLedger(await openTable(table, environment));
  const hasArrived = async (id: string) => (await ledger.read(id)) !== undefined;
  return (store: Store) => createExpectedJobs({ store, hasArrived, now: Date.now });
}
