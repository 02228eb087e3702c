import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { errorText, shortened } from '../../../base/index.ts';
import { printJson } from '../../../base/json/index.ts';
import { maxCallsOf, scoringFields } from '../../../jobs/types/index.ts';
import type { ToolResult } from '../answer.ts';
import {
  defineTool,
  described,
  type READS,
  type Submission,
  type ToolCall,
  ToolError,
  textInput,
  wholeInput,
} from '../tool.ts';

type CheckedJob = Parameters<Submission['send']>[0][number];

/** Maximum jobs in one call. */
const MAX_JOBS = 500;
/** Maximum characters of the jobs. A message to the server may have five times as many. */
const MAX_TEXT_LENGTH = 2_000_000;
/** For how many minutes the token of a plan is valid. */
const CONFIRM_MINUTES = 10;
const SHOWN_JOBS = 3;
const MAX_JOB_LENGTH = 2_000;
const MAX_FAULTS = 50;

const confirmInput = described(
  z.optional(textInput('the token of an earlier result', 200)),
  'the token of an earlier result of this tool for the same arguments, to send the jobs. Without it nothing is sent',
);

/** Annotations of a tool that sends jobs, which may change the platform. A repeated call sends nothing more. */
const SENDS: typeof READS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
};

/** `submit`: puts jobs on the queue, after a dry run. */
export const submit = defineTool({
  title: 'Submit jobs',
  description: `Puts jobs on the queue, in two calls. The first, without confirm, sends nothing: it checks every job and returns the first jobs that would be sent, the maximum number of platform calls that they take (null: not known beforehand), the seconds at the current rate, and a token. The second, with the same arguments and that token as confirm, sends exactly these jobs, once; notSentIds lists jobs that are not certainly on the queue. Show the first result to the user before the second call. At most ${MAX_JOBS} jobs.`,
  annotations: SENDS,
  input: z.strictObject({
    jobs: described(
      textInput(
        `jobs as a string of at most ${MAX_TEXT_LENGTH} characters, one JSON object a line`,
        MAX_TEXT_LENGTH,
      ),
      'one job a line, as for platform-sync submit: {"version":1,"type":"run-function","id":"report-1",…}. A run-function and an update-formula need an id: by it they run only once',
    ),
    confirm: confirmInput,
  }),
  run: ({ jobs, confirm }, call) => submitJobs({ name: 'submit', lines: jobs, confirm }, call),
});

const MAX_TEXTS = 100;
const TEXTS = `a list of at most ${MAX_TEXTS} texts`;
const text = z.string({ error: 'text' });

/** `score`: puts a job that scores texts on the queue, after a dry run. */
export const score = defineTool({
  title: 'Score texts',
  description: `Has the sentiment of at most ${MAX_TEXTS} texts scored by a job on the queue, in two calls as submit does: the first, without confirm, returns what it costs and a token; the second, with that token, sends it. Each text is one paid call, unless an equal request scored it before. The tool jobs with the id of the job shows the scores. For a whole file: platform-sync score FILE.`,
  annotations: SENDS,
  input: z.strictObject({
    texts: z
      .array(z.strictObject({ id: text, text }, { error: '{id, text}' }), { error: TEXTS })
      .check(z.maxLength(MAX_TEXTS, { error: TEXTS })),
    ...scoringFields,
    maxCalls: described(z.optional(wholeInput(0)), 'refuse if more calls may be needed'),
    confirm: confirmInput,
  }),
  run: ({ confirm, maxCalls, ...request }, call) =>
    // The job's id is derived from its content, so a repeated request is the same job.
    submitJobs(
      { name: 'score', lines: printJson({ version: 1, type: 'score', ...request }), confirm, maxCalls },
      call,
    ),
});

type Plan = {
  /** The tool's name and its arguments, byte for byte. */
  readonly content: string;
  readonly jobs: readonly CheckedJob[];
  /** How many calls to the platform the jobs may take; null if unknown. */
  readonly calls: number | null;
  readonly untilMs: number;
  /** Set when the jobs are sent; they are sent only once. */
  outcome?: ReturnType<Submission['send']>;
};

/** The plans that were shown and have not expired, by token. */
const plans = new Map<string, Plan>();

/**
 * Returns what would be sent, with a token. If `confirm` is the token of a plan with exactly these arguments, sends the
 * jobs.
 */
async function submitJobs(
  options: {
    /** The name of the tool. */
    readonly name: string;
    /** The jobs, one a line. */
    readonly lines: string;
    readonly confirm: string | undefined;
    /** Jobs that may take more calls than this are refused. */
    readonly maxCalls?: number | undefined;
  },
  call: ToolCall,
): Promise<ToolResult> {
  const { name, lines, confirm, maxCalls } = options;
  const { submission, now } = call;
  if (submission === undefined) throw new ToolError(`${name}: the server was started without --allow-submit`);
  const content = JSON.stringify([name, lines, maxCalls ?? null]);
  for (const [token, { untilMs }] of plans) if (untilMs < now()) plans.delete(token);
  if (confirm !== undefined) {
    const plan = plans.get(confirm);
    if (plan?.content === content) return await sendPlan(plan, submission, call);
    throw new ToolError(
      `confirm: expected the token that this tool returned in the last ${CONFIRM_MINUTES} minutes for exactly these arguments, got a different token; nothing was sent. An earlier call may have sent these jobs: the tool jobs shows that. To see what these arguments would send, call again without confirm`,
    );
  }
  const jobs = await submission.check(lines);
  if ('faults' in jobs) throw refused(jobs.faults);
  if (jobs.length > MAX_JOBS) throw refused([`expected at most ${MAX_JOBS} jobs, got ${jobs.length}`]);
  const sum = jobs.map(callsOf).reduce((all, each) => all + each, 0);
  const calls = Number.isNaN(sum) ? null : sum;
  if (maxCalls !== undefined && (calls === null || calls > maxCalls))
    throw refused([
      `maxCalls: ${calls ?? 'an unknown number of'} calls may be needed, over the limit of ${maxCalls}`,
    ]);
  const { rate = 0, isPaused = false } = (await submission.rate()) ?? {};
  const token = randomUUID();
  const untilMs = now() + CONFIRM_MINUTES * 60_000;
  plans.set(token, { content, jobs, calls, untilMs });
  return {
    status: 'planned',
    head: {
      note: `Nothing was sent. To send exactly this, show it to the user, and call ${name} again within ${CONFIRM_MINUTES} minutes with the same arguments and this confirm${isPaused ? '; the fleet is paused, so jobs wait until it is resumed' : ''}`,
      jobs: jobs.length,
      calls,
      seconds: calls === null || rate === 0 ? null : Math.ceil(calls / rate),
      confirm: token,
      expiresAt: new Date(untilMs).toISOString(),
    },
    data: { first: jobs.slice(0, SHOWN_JOBS).map((job) => shortened(job.text, MAX_JOB_LENGTH)) },
  };
}

const refused = (faults: readonly string[]) =>
  new ToolError(`nothing was sent:\n${faults.slice(0, MAX_FAULTS).join('\n')}`);

/** How many calls a job may take; NaN if unknown. */
const callsOf = ({ text: message }: CheckedJob): number => maxCallsOf(message) ?? Number.NaN;

async function sendPlan(plan: Plan, { send }: Submission, { signal, hide }: ToolCall): Promise<ToolResult> {
  const { jobs, calls, outcome: before } = plan;
  // Set before anything is awaited, so that a second call at the same time does not send the jobs again.
  plan.outcome ??= send(jobs, signal);
  const { ids, notSent, error } = await plan.outcome;
  const message = errorText(error);
  const note = before
    ? 'An earlier call with this token sent the jobs; this call sent nothing. The tool jobs shows how they end'
    : error === undefined
      ? 'All jobs are on the queue. The tool jobs shows how they end'
      : `Some jobs may not be on the queue (${shortened(hide(message), MAX_JOB_LENGTH)}). To send these, call again without confirm: a job with the same id still runs only once`;
  return {
    status: notSent.length === 0 ? 'sent' : 'incomplete',
    head: { note, jobs: jobs.length, calls, sentIds: ids, notSentIds: notSent },
    data: {},
  };
}
