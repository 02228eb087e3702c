import * as z from 'zod/mini';
import { checkedBy, whole, wholeNumber } from '../../../base/index.ts';
import type { SentimentRequest } from '../../../platform/index.ts';
import { analyzeSentiment } from '../../../platform/operations/index.ts';
import {
  bothOrNeither,
  common,
  isObject,
  type JobFrom,
  type MessageChecks,
} from '../../message/check-message.ts';

/** Maximum texts in a job, and maximum bytes of UTF-8 of all of them together. */
export const MAX_TEXTS = 100;
export const MAX_TEXT_BYTES = 200 * 1024;

/**
 * Text with at least one character that is not white space. It may contain a lone surrogate, for example of a cut emoji.
 */
const anyText = z.string({ error: 'text' }).check(z.regex(/\S/, { error: 'text that is not empty' }));

const textOfJob = z.strictObject(
  {
    id: z
      .string({ error: 'text' })
      .check(
        z.refine((id) => id !== '' && Buffer.byteLength(id) <= 1_024, { error: 'an id of 1 to 1024 bytes' }),
      ),
    text: anyText,
  },
  { error: 'an object with id and text' },
);

const texts = z.array(textOfJob, { error: 'a list of texts' }).check(
  whole(`1 to ${MAX_TEXTS} texts`, ({ length }) => length >= 1 && length <= MAX_TEXTS),
  whole('texts with different ids', (list) => {
    const ids = list
      .map((each) => (isObject(each) ? each['id'] : undefined))
      .filter((id) => id !== undefined);
    return new Set(ids).size === ids.length;
  }),
  whole(
    `texts of at most ${MAX_TEXT_BYTES} bytes of UTF-8 in total`,
    (list) => list.reduce((bytes: number, each) => bytes + textBytes(each), 0) <= MAX_TEXT_BYTES,
  ),
);

const textBytes = (each: unknown) =>
  isObject(each) && typeof each['text'] === 'string' ? Buffer.byteLength(each['text']) : 0;

/** Schema of a field that is sent to the platform unchanged. The schema of the endpoint checks it. */
const asSent = <Name extends Exclude<keyof SentimentRequest, 'text'>>(name: Name) =>
  z.optional(
    z
      .custom<Exclude<SentimentRequest[Name], undefined>>(() => true)
      .check(
        z.check(({ value, issues }) => {
          const body = { input: [{ type: 'TEXT', text: '' }], [name]: value };
          const { error } = checkedBy(analyzeSentiment.input, { body });
          for (const issue of error?.issues ?? []) {
            issues.push({ ...issue, path: issue.path.slice(2), input: value } as z.core.$ZodRawIssue);
          }
        }),
      ),
  );

/** The batch of a bulk request. Folders of the store have this name. */
const batchName = z.string({ error: 'text' }).check(
  z.regex(/^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/, {
    error: '1 to 128 characters from A-Z a-z 0-9 . _ : -, and not "." or ".."',
  }),
);

/**
 * The maximum length of a batch name: a chunk's job id is the name and `.chunk-9999999`, at most 128 characters in
 * total.
 */
export const MAX_BATCH_NAME_LENGTH = 114;

/** Whether a string may be the name of a batch. */
export const isBatchName = (name: string): boolean =>
  batchName.safeParse(name).success && name.length <= MAX_BATCH_NAME_LENGTH;

/** What a bulk request may set for all of its texts. */
export const scoringFields = {
  topics: asSent('topics'),
  instructions: asSent('instructions'),
  model: asSent('model'),
} as const;

/** The checks of what a bulk request may set. */
export const bulkRequestChecks = { schema: z.strictObject(scoringFields) } as const;

const scoreMessage = z.strictObject({
  ...common,
  type: z.literal('score', { error: 'score' }),
  texts,
  ...scoringFields,
  modelConfiguration: asSent('modelConfiguration'),
  reasoningConfig: asSent('reasoningConfig'),
  sessionId: asSent('sessionId'),
  /** The bulk request to which the job belongs, and the number of its chunk, from 0. */
  batch: z.optional(batchName),
  chunk: z.optional(wholeNumber(0, 9_999_999)),
});

/** A `score` job. */
export type ScoreJob = JobFrom<z.infer<typeof scoreMessage>>;

/** The checks of a `score` message. */
export const scoreChecks: MessageChecks<z.infer<typeof scoreMessage>, z.input<typeof scoreMessage>> = {
  schema: scoreMessage,
  rules: bothOrNeither('batch', 'chunk'),
  defaultId: 'content-hash',
};
