import * as z from 'zod/mini';
import { createRoom } from '../bounds.ts';
import { cursorInput, cursorOf, limitInput, listEnd, offsetSchema, readCursor } from '../cursor.ts';
import { findJobs, findOneJob, type ShownJob, STATES } from '../find-jobs.ts';
import { withinTime } from '../time-limit.ts';
import { defineTool, READS, ToolError } from '../tool.ts';

const job = z.object({
  id: z.string(),
  type: z.nullable(z.string()),
  state: z.enum(STATES),
  attempts: z.number(),
  startedAt: z.nullable(z.string()),
  finishedAt: z.nullable(z.string()),
  error: z.nullable(z.string()),
  whatToDo: z.nullable(
    z
      .object({
        say: z.string(),
        command: z.optional(z.enum(['jobs resolve', 'redrive'])),
        id: z.optional(z.string()),
        batch: z.optional(z.string()),
      })
      .check(z.describe('the command of platform-sync that a person runs, and the job or batch it is given')),
  ),
});

/** `jobs`: how jobs ended, those first that somebody must look at. */
export const jobs = defineTool({
  title: 'Jobs and their outcomes',
  description:
    'Lists jobs, those with an unknown outcome first, then failed ones, each with what to do; counts all by state. With id: the whole result of one. Reads the ledger if SYNC_TABLE is set and can be reached, otherwise the stored results of the last days.',
  annotations: READS,
  input: z.strictObject({
    id: z.optional(
      z
        .string({ error: 'the id of a job' })
        .check(z.maxLength(128, { error: 'the id of a job, of at most 128 characters' })),
    ),
    state: z.optional(z.enum(STATES, { error: `one of ${STATES.join(', ')}` })),
    days: z._default(
      z
        .number({ error: 'a number of days from 1 to 400' })
        .check(
          z.gte(1, { error: 'a number of days from 1 to 400' }),
          z.lte(400, { error: 'a number of days from 1 to 400' }),
        )
        .check(z.describe('of the stored results, only those of jobs that ended within so many days')),
      30,
    ),
    limit: limitInput(100, 20),
    cursor: cursorInput,
  }),
  output: z.object({
    from: z.enum(['ledger', 'results']),
    note: z.optional(z.string()),
    counts: z.object(
      Object.fromEntries(STATES.map((state) => [state, z.number()])) as Record<
        (typeof STATES)[number],
        z.ZodMiniNumber
      >,
    ),
    data: z.object({
      jobs: z.array(job),
      result: z.optional(
        z.nullable(z.string()).check(z.describe('the stored result as the text of its JSON')),
      ),
    }),
    ...listEnd,
  }),
  async run({ id, state, days, limit, cursor }, call) {
    const at = cursor === undefined ? 0 : readCursor(cursor, offsetSchema).at;
    const instead = 'run: platform-sync jobs';
    const sinceMs = call.now() - days * 24 * 3_600_000;
    if (id !== undefined) {
      const found = await withinTime(call.signal, (signal) => findOneJob(id, { ...call, signal }, sinceMs), {
        instead,
      });
      if (found === undefined)
        throw new ToolError(`job ${id}: neither in the ledger nor among the results of ${days} days`);
      const { from, note, job: one, result, counts } = found;
      const head = { from, ...(note === undefined ? {} : { note }), counts };
      const { couldTake } = createRoom({ ...head, data: { jobs: [one] }, isCut: true }, 1);
      const fits = result === undefined || couldTake(result);
      return { ...head, data: { jobs: [one], result: fits ? (result ?? null) : null }, isCut: !fits };
    }
    const found = await withinTime(
      call.signal,
      (signal) => findJobs({ ...call, signal }, { state, sinceMs, most: at + limit + 1 }),
      { instead },
    );
    const { from, note, counts, listed } = found;
    const head = { from, ...(note === undefined ? {} : { note }), counts };
    const room = createRoom({ ...head, data: { jobs: [] }, nextCursor: 'x'.repeat(200) }, limit);
    const fitting: ShownJob[] = listed.slice(at).filter(room.takes);
    const end = at + fitting.length;
    return {
      ...head,
      data: { jobs: fitting },
      ...(end < listed.length ? { isCut: true, nextCursor: cursorOf({ at: end }) } : { isCut: false }),
    };
  },
});
