import * as z from 'zod/mini';
import { printJson } from '../../../base/index.ts';
import { scoringFields } from '../../../jobs/types/score/message.ts';
import { confirmInput, MOST_JOBS, sendingOutput, submitJobs } from '../submit-jobs.ts';
import { defineTool, SENDS, textInput, wholeInput } from '../tool.ts';

/** Half of what a message to the server may have. */
const LONGEST_TEXT = 2_000_000;

/** `submit`: jobs onto the queue, after a dry run. */
export const submit = defineTool({
  title: 'Submit jobs',
  description: `Puts jobs on the queue, in two calls. The first, without confirm, sends nothing: it checks every job and returns what would be sent, the calls and time that it takes, and a token. The second, with the same arguments and confirm: that token, sends exactly that, once. Show the first result to the person who asked before the second call. At most ${MOST_JOBS} jobs.`,
  annotations: SENDS,
  input: z.strictObject({
    jobs: textInput(
      `jobs as text of at most ${LONGEST_TEXT} characters, one JSON object a line`,
      LONGEST_TEXT,
    ).check(
      z.describe(
        'one job a line, as for platform-sync submit: {"version":1,"type":"run-function","id":"report-1",…}. A run-function and an update-formula need an id: by it they run only once',
      ),
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
    maxCalls: z.optional(wholeInput(0).check(z.describe('refuse if more calls may be needed'))),
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
