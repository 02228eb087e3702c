import { hash, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { printJson, shortened } from '../../../base/index.ts';
import { parseMessage } from '../../../jobs/message/message.ts';
import { definitionOf } from '../../../jobs/types/job-types.ts';
import { scoringFields } from '../../../jobs/types/score/message.ts';
import type { CheckedJob, SentJobs, Submission } from '../context.ts';
import { createRoom } from '../pages.ts';
import { defineTool, described, SENDS, type ToolCall, ToolError, textInput, wholeInput } from '../tool.ts';

/** The most jobs of one call. */
const MOST_JOBS = 500;
/** Half of what a message to the server may have. */
const LONGEST_TEXT = 2_000_000;
/** How long a queue that is away is tried again. */
const SEND_SECONDS = 60;
/** How long a token may be used, and the most plans that wait for theirs: the oldest are dropped. */
const CONFIRM_MINUTES = 10;
const MOST_WAITING = 50;
const SHOWN_JOBS = 3;
const LONGEST_JOB = 2_000;
const MOST_FAULTS = 50;

const confirmInput = described(
  z.optional(textInput('the token of an earlier result', 200)),
  'the token of an earlier result of this tool for the same arguments: then the jobs are sent. Without it nothing is',
);

const texts = z.array(z.string());

const sendingOutput = z.object({
  isSent: z.boolean(),
  note: z.string(),
  jobs: z.number(),
  calls: described(
    z.nullable(z.number()),
    'of the platform, at most, if none is repeated; null: not known before',
  ),
  seconds: described(z.nullable(z.number()), 'that these calls take at the rate of now'),
  confirm: described(z.optional(z.string()), 'the token for the call that sends'),
  expiresAt: z.optional(z.string()),
  sentIds: z.optional(texts),
  notSentIds: described(z.optional(texts), 'not certainly sent'),
  data: z.object({
    first: described(texts, 'the first jobs that would be sent, as the text of their JSON'),
  }),
  isCut: z.boolean(),
});

/** `submit`: jobs onto the queue, after a dry run. */
export const submit = defineTool({
  title: 'Submit jobs',
  description: `Puts jobs on the queue, in two calls. The first, without confirm, sends nothing: it checks every job and returns what would be sent, the calls and time that it takes, and a token. The second, with the same arguments and confirm: that token, sends exactly that, once. Show the first result to the person who asked before the second call. At most ${MOST_JOBS} jobs.`,
  annotations: SENDS,
  input: z.strictObject({
    jobs: described(
      textInput(`jobs as text of at most ${LONGEST_TEXT} characters, one JSON object a line`, LONGEST_TEXT),
      'one job a line, as for platform-sync submit: {"version":1,"type":"run-function","id":"report-1",…}. A run-function and an update-formula need an id: by it they run only once',
    ),
    confirm: confirmInput,
  }),
  output: sendingOutput,
  run: ({ jobs, confirm }, call) => submitJobs({ name: 'submit', lines: jobs, confirm }, call),
});

const MOST_TEXTS = 100;
const TEXTS = `a list of at most ${MOST_TEXTS} texts`;
const text = z.string({ error: 'text' });

/** `score`: the sentiment of texts by a job on the queue, after a dry run. */
export const score = defineTool({
  title: 'Score texts',
  description: `Has the sentiment of at most ${MOST_TEXTS} texts scored by a job on the queue, in two calls as submit does: the first, without confirm, returns what it costs and a token; the second, with that token, sends it. Each text is one paid call, unless an equal request scored it before. The tool jobs with the id of the job shows the scores. For a whole file: platform-sync score FILE.`,
  annotations: SENDS,
  input: z.strictObject({
    texts: z
      .array(z.strictObject({ id: text, text }, { error: '{id, text}' }), { error: TEXTS })
      .check(z.maxLength(MOST_TEXTS, { error: TEXTS })),
    ...scoringFields,
    maxCalls: described(z.optional(wholeInput(0)), 'refuse if more calls may be needed'),
    confirm: confirmInput,
  }),
  output: sendingOutput,
  run: ({ confirm, maxCalls, ...request }, call) =>
    // Its id is made of its content: the same request again is the same job.
    submitJobs(
      { name: 'score', lines: printJson({ version: 1, type: 'score', ...request }), confirm, maxCalls },
      call,
    ),
});

type Waiting = {
  readonly jobs: readonly CheckedJob[];
  readonly calls: number | undefined;
  /** A hash of the content of the call that made it. */
  readonly content: string;
  readonly untilMs: number;
  /** Set once the token was used. */
  outcome: Promise<SentJobs> | undefined;
};

/** What was shown and waits for a second call, by its token, which carries it out once. */
const waiting = new Map<string, Waiting>();

type ToSubmit = {
  /** The tool. */
  readonly name: string;
  /** One job a line. */
  readonly lines: string;
  readonly confirm: string | undefined;
  /** Refuses jobs that may take more calls. */
  readonly maxCalls?: number | undefined;
};

/** Says what would be sent, with a token; or sends it, if the token for exactly this is given. */
async function submitJobs(
  { name, lines, confirm, maxCalls }: ToSubmit,
  call: ToolCall,
): Promise<z.infer<typeof sendingOutput>> {
  const { submission, now } = call;
  if (submission === undefined) throw new ToolError(`${name}: the server was started without --allow-submit`);
  submission.refuseIfNone();
  const content = hash('sha256', JSON.stringify([name, lines, maxCalls ?? null]));
  if (confirm !== undefined) return await sendPlan(confirm, content, submission, call);
  const { jobs, calls } = await planOf(lines, maxCalls, submission);
  const { rate = 0, isPaused = false } = (await submission.rate()) ?? {};
  const token = randomBytes(16).toString('hex');
  const untilMs = now() + CONFIRM_MINUTES * 60_000;
  for (const [each, of] of waiting) if (of.untilMs < now()) waiting.delete(each);
  const [oldest] = waiting.keys();
  if (waiting.size >= MOST_WAITING && oldest !== undefined) waiting.delete(oldest);
  waiting.set(token, { jobs, calls, content, untilMs, outcome: undefined });
  return {
    isSent: false,
    note: `Nothing was sent. To send exactly this, show it to the person who asked, and call ${name} again within ${CONFIRM_MINUTES} minutes with the same arguments and this confirm${isPaused ? '; the fleet is paused, so that jobs wait until it is resumed' : ''}`,
    jobs: jobs.length,
    calls: calls ?? null,
    seconds: calls === undefined || rate === 0 ? null : Math.ceil(calls / rate),
    confirm: token,
    expiresAt: new Date(untilMs).toISOString(),
    data: { first: jobs.slice(0, SHOWN_JOBS).map((job) => shortened(job.text, LONGEST_JOB)) },
    isCut: jobs.length > SHOWN_JOBS,
  };
}

async function planOf(lines: string, maxCalls: number | undefined, submission: Submission) {
  const read = await submission.check(lines);
  if (read.kind === 'faults') throw refused(read.faults);
  const { jobs } = read;
  if (jobs.length > MOST_JOBS) throw refused([`expected at most ${MOST_JOBS} jobs, got ${jobs.length}`]);
  const sum = jobs.map(callsOf).reduce((all, each) => all + each, 0);
  const calls = Number.isNaN(sum) ? undefined : sum;
  if (maxCalls !== undefined && (calls === undefined || calls > maxCalls))
    throw refused([
      `maxCalls: ${calls ?? 'an unknown number of'} calls may be needed, over the limit of ${maxCalls}`,
    ]);
  return { jobs, calls };
}

const refused = (faults: readonly string[]) =>
  new ToolError(`nothing was sent:\n${faults.slice(0, MOST_FAULTS).join('\n')}`);

/** NaN if that is not known. */
function callsOf({ id, text: message }: CheckedJob): number {
  const read = parseMessage(message, { messageId: id, allow: {} });
  return (read.kind === 'job' ? definitionOf(read.job).mostCalls(read.job) : undefined) ?? Number.NaN;
}

async function sendPlan(token: string, content: string, submission: Submission, call: ToolCall) {
  const plan = waiting.get(token);
  if (plan === undefined || plan.untilMs < call.now()) throw unknown(plan === undefined);
  if (plan.content !== content)
    throw new ToolError(
      'confirm: expected exactly what the token was given for, got other arguments; nothing was sent: call again without confirm to see what these would send',
    );
  const isRepeat = plan.outcome !== undefined;
  // Set before anything is awaited: a second call at the same time must not send.
  plan.outcome ??= submission.send(
    plan.jobs,
    AbortSignal.any([call.signal, AbortSignal.timeout(SEND_SECONDS * 1_000)]),
  );
  const { ids, notSent, error } = await plan.outcome;
  const message = error instanceof Error ? error.message : String(error);
  const head = {
    isSent: ids.length > 0,
    note: isRepeat
      ? 'An earlier call with this token sent them; this one sent nothing. The tool jobs shows how they end'
      : error === undefined
        ? 'All are on the queue. The tool jobs shows how they end'
        : `Not all are certainly on the queue (${shortened(call.hide(message), LONGEST_JOB)}). To send the others, call again without confirm: a job of the same id still runs only once`,
    jobs: ids.length + notSent.length,
    calls: plan.calls ?? null,
    seconds: null,
    data: { first: [] },
  };
  const { takes } = createRoom({ ...head, sentIds: [], notSentIds: [], isCut: true }, 2 * MOST_JOBS);
  const notSentIds = notSent.filter(takes);
  const sentIds = ids.filter(takes);
  const isCut = sentIds.length + notSentIds.length < head.jobs;
  return { ...head, sentIds, notSentIds, isCut };
}

const unknown = (isUnknown: boolean) =>
  new ToolError(
    `confirm: expected the token of an earlier result of this server, got ${isUnknown ? 'another text' : `one that is older than ${CONFIRM_MINUTES} minutes`}; this call sent nothing: call again without confirm, and look with jobs whether an earlier one did`,
  );
