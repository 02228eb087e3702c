import * as z from 'zod/mini';
import { shortened } from '../../base/index.ts';
import { parseMessage } from '../../jobs/message/message.ts';
import { definitionOf } from '../../jobs/types/job-types.ts';
import { CONFIRM_MINUTES, createConfirmations } from './confirmations.ts';
import type { CheckedJob, SentJobs, Submission } from './context.ts';
import { createRoom } from './pages.ts';
import { type ToolCall, ToolError, textInput } from './tool.ts';

/** The most jobs of one call. */
export const MOST_JOBS = 500;
/** How long a queue that is away is tried again. */
const SEND_SECONDS = 60;
const SHOWN_JOBS = 3;
const LONGEST_JOB = 2_000;
const MOST_FAULTS = 50;

export const confirmInput = z.optional(
  textInput('the token of an earlier result', 200).check(
    z.describe(
      'the token of an earlier result of this tool for the same arguments: then the jobs are sent. Without it nothing is',
    ),
  ),
);

const texts = z.array(z.string());

/** What the tools that send return. */
export const sendingOutput = z.object({
  isSent: z.boolean(),
  note: z.string(),
  jobs: z.number(),
  calls: z.nullable(
    z.number().check(z.describe('of the platform, at most, if none is repeated; null: not known before')),
  ),
  seconds: z.nullable(z.number().check(z.describe('that these calls take at the rate of now'))),
  confirm: z.optional(z.string().check(z.describe('the token for the call that sends'))),
  expiresAt: z.optional(z.string()),
  sentIds: z.optional(texts),
  notSentIds: z.optional(texts.check(z.describe('not certainly sent'))),
  data: z.object({
    first: texts.check(z.describe('the first jobs that would be sent, as the text of their JSON')),
  }),
  isCut: z.boolean(),
});

type Plan = { readonly jobs: readonly CheckedJob[]; readonly calls: number | undefined };

const books = new WeakMap<Submission, ReturnType<typeof createConfirmations<Plan, SentJobs>>>();

function bookOf(submission: Submission, now: () => number) {
  const known = books.get(submission) ?? createConfirmations<Plan, SentJobs>(now);
  books.set(submission, known);
  return known;
}

export type ToSubmit = {
  /** The tool. */
  readonly name: string;
  /** One job a line. */
  readonly lines: string;
  readonly confirm: string | undefined;
  /** Refuses jobs that may take more calls. */
  readonly maxCalls?: number | undefined;
};

/** Says what would be sent, with a token; or sends it, if the token for exactly this is given. */
export async function submitJobs(
  { name, lines, confirm, maxCalls }: ToSubmit,
  call: ToolCall,
): Promise<z.infer<typeof sendingOutput>> {
  const { submission } = call;
  if (submission === undefined) throw new ToolError(`${name}: the server was started without --allow-submit`);
  submission.refuseIfNone();
  const book = bookOf(submission, call.now);
  const content = JSON.stringify([name, lines, maxCalls ?? null]);
  if (confirm !== undefined) return await sendPlan(confirm, content, { book, submission, call });
  const plan = await planOf(lines, maxCalls, submission);
  const rate = await submission.rate();
  const seconds =
    plan.calls === undefined || rate === undefined || rate.rate === 0
      ? null
      : Math.ceil(plan.calls / rate.rate);
  const { token, untilMs } = book.plan(content, plan);
  return {
    isSent: false,
    note: `Nothing was sent. To send exactly this, show it to the person who asked, and call ${name} again within ${CONFIRM_MINUTES} minutes with the same arguments and this confirm${rate?.isPaused ? '; the fleet is paused, so that jobs wait until it is resumed' : ''}`,
    jobs: plan.jobs.length,
    calls: plan.calls ?? null,
    seconds,
    confirm: token,
    expiresAt: new Date(untilMs).toISOString(),
    data: { first: plan.jobs.slice(0, SHOWN_JOBS).map(({ text }) => shortened(text, LONGEST_JOB)) },
    isCut: plan.jobs.length > SHOWN_JOBS,
  };
}

async function planOf(lines: string, maxCalls: number | undefined, submission: Submission): Promise<Plan> {
  const read = await submission.check(lines);
  if (read.kind === 'faults') throw refused(read.faults);
  const { jobs } = read;
  if (jobs.length > MOST_JOBS) throw refused([`expected at most ${MOST_JOBS} jobs, got ${jobs.length}`]);
  const calls = jobs
    .map(callsOf)
    .reduce<number | undefined>(
      (sum, each) => (sum === undefined || each === undefined ? undefined : sum + each),
      0,
    );
  if (maxCalls !== undefined && (calls === undefined || calls > maxCalls))
    throw refused([
      `maxCalls: ${calls ?? 'an unknown number of'} calls may be needed, over the limit of ${maxCalls}`,
    ]);
  return { jobs, calls };
}

const refused = (faults: readonly string[]) =>
  new ToolError(`nothing was sent:\n${faults.slice(0, MOST_FAULTS).join('\n')}`);

function callsOf({ id, text }: CheckedJob): number | undefined {
  const read = parseMessage(text, { messageId: id, allow: {} });
  return read.kind === 'job' ? definitionOf(read.job).mostCalls(read.job) : undefined;
}

type Sending = {
  readonly book: ReturnType<typeof bookOf>;
  readonly submission: Submission;
  readonly call: ToolCall;
};

async function sendPlan(token: string, content: string, { book, submission, call }: Sending) {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(SEND_SECONDS * 1_000)]);
  let calls: number | undefined;
  const { outcome, isRepeat } = await book.confirm(token, content, (plan) => {
    calls = plan.calls;
    return submission.send(plan.jobs, signal);
  });
  const { ids, notSent, error } = outcome;
  const why = error === undefined ? '' : ` (${shortened(call.hide(messageIn(error)), LONGEST_JOB)})`;
  const head = {
    isSent: ids.length > 0,
    note: isRepeat
      ? 'An earlier call with this token sent them; this one sent nothing. The tool jobs shows how they end'
      : error === undefined
        ? 'All are on the queue. The tool jobs shows how they end'
        : `Not all are certainly on the queue${why}. To send the others, call again without confirm: a job of the same id still runs only once`,
    jobs: ids.length + notSent.length,
    calls: calls ?? null,
    seconds: null,
    data: { first: [] },
  };
  const { takes } = createRoom({ ...head, sentIds: [], notSentIds: [], isCut: true }, 2 * MOST_JOBS);
  const notSentIds = notSent.filter(takes);
  const sentIds = ids.filter(takes);
  const isCut = sentIds.length + notSentIds.length < ids.length + notSent.length;
  return { ...head, sentIds, notSentIds, isCut };
}

const messageIn = (error: unknown): string => (error instanceof Error ? error.message : String(error));
