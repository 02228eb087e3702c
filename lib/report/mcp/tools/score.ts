import * as z from 'zod/mini';
import { scoringFields } from '../../../jobs/types/score/message.ts';
import { printJson } from '../../../json/json.ts';
import { confirmInput, sendingOutput, submitJobs } from '../submit-jobs.ts';
import { defineTool, SENDS } from '../tool.ts';

const MOST_TEXTS = 100;

/** `score`: the sentiment of texts by a job on the queue, after a dry run. */
export const score = defineTool({
  title: 'Score texts',
  description: `Has the sentiment of at most ${MOST_TEXTS} texts scored by a job on the queue, in two calls as submit does: the first, without confirm, returns what it costs and a token; the second, with that token, sends it. Each text is one paid call, unless an equal request scored it before. The tool jobs with the id of the job shows the scores. For a whole file: platform-sync score FILE.`,
  annotations: SENDS,
  input: z.strictObject({
    texts: z
      .array(
        z.strictObject(
          { id: z.string({ error: 'text' }), text: z.string({ error: 'text' }) },
          { error: '{id, text}' },
        ),
        { error: `a list of at most ${MOST_TEXTS} texts` },
      )
      .check(z.maxLength(MOST_TEXTS, { error: `a list of at most ${MOST_TEXTS} texts` })),
    ...scoringFields,
    maxCalls: z.optional(
      z
        .number({ error: 'a whole number' })
        .check(z.int({ error: 'a whole number' }), z.gte(0, { error: 'a whole number' }))
        .check(z.describe('refuse if more calls may be needed')),
    ),
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
