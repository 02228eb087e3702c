import * as z from 'zod/mini';
import { confirmInput, MOST_JOBS, sendingOutput, submitJobs } from '../submit-jobs.ts';
import { defineTool, SENDS } from '../tool.ts';

/** Half of what a message to the server may have. */
const LONGEST_TEXT = 2_000_000;

/** `submit`: jobs onto the queue, after a dry run. */
export const submit = defineTool({
  title: 'Submit jobs',
  description: `Puts jobs on the queue, in two calls. The first, without confirm, sends nothing: it checks every job and returns what would be sent, the calls and time that it takes, and a token. The second, with the same arguments and confirm: that token, sends exactly that, once. Show the first result to the person who asked before the second call. At most ${MOST_JOBS} jobs.`,
  annotations: SENDS,
  input: z.strictObject({
    jobs: z
      .string({ error: 'jobs as text, one JSON object a line' })
      .check(z.maxLength(LONGEST_TEXT, { error: `a text of at most ${LONGEST_TEXT} characters` }))
      .check(
        z.describe(
          'one job a line, as for platform-sync submit: {"version":1,"type":"run-function","id":"report-1",…}. A run-function and an update-formula need an id: by it they run only once',
        ),
      ),
    confirm: confirmInput,
  }),
  output: sendingOutput,
  run: ({ jobs, confirm }, call) => submitJobs({ name: 'submit', lines: jobs, confirm }, call),
});
