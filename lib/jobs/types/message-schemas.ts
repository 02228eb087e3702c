import * as z from 'zod/mini';
import { filledText, pathSegment, uuid, wholeNumber } from '../../json/inputs.ts';
import { idSchema } from '../../platform/id.ts';
import { common, type FieldRule, jobType, together, yesOrNo } from '../message/fields.ts';
import { dataFilesMessage } from './data-files/message.ts';
import type { JobType } from './job-types.ts';
import { scoreMessage, scoreRules } from './score/message.ts';
import { snapshotMessage, snapshotRules } from './snapshot/message.ts';

const runFunctionMessage = z.strictObject({
  ...common,
  type: z.literal('run-function'),
  packageId: uuid,
  packageVersion: pathSegment,
  functionName: pathSegment,
  inputVariables: z.optional(z.record(z.string(), z.unknown(), { error: 'an object of input variables' })),
  settings: z.optional(z.looseObject({ getLogs: z.optional(yesOrNo) }, { error: 'an object of settings' })),
  /** What becomes of it when nobody knows whether it ran: by default it fails and is not sent again. */
  onUnknown: z._default(z.enum(['fail', 'retry'], { error: 'fail or retry' }), 'fail'),
});

const updateFormulaMessage = z.strictObject({
  ...common,
  type: z.literal('update-formula'),
  calculationId: idSchema,
  expression: filledText,
  strict: z.optional(yesOrNo),
  /** Epoch milliseconds: a calculation that changed later is left alone. */
  unlessChangedSince: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  /** The calculation's name, by which the search finds its row. */
  name: z.optional(filledText),
});

/** The schema of each type's message. */
const messageSchemas = {
  'run-function': runFunctionMessage,
  score: scoreMessage,
  'update-formula': updateFormulaMessage,
  'data-files': dataFilesMessage,
  snapshot: snapshotMessage,
} as const satisfies Record<JobType, unknown>;

type WithId<Message> = Message extends unknown
  ? Readonly<Omit<Message, 'id'>> & { readonly id: string }
  : never;

export type RunFunctionJob = WithId<z.infer<typeof runFunctionMessage>>;
export type ScoreJob = WithId<z.infer<typeof scoreMessage>>;
export type UpdateFormulaJob = WithId<z.infer<typeof updateFormulaMessage>>;
export type DataFilesJob = WithId<z.infer<typeof dataFilesMessage>>;
export type SnapshotJob = WithId<z.infer<(typeof messageSchemas)['snapshot']>>;

const messageRules: Readonly<Partial<Record<JobType, readonly FieldRule[]>>> = {
  score: scoreRules,
  'update-formula': together('unlessChangedSince', 'name'),
  snapshot: snapshotRules,
};

/** What a message is checked by; one of a type that is not known fails by it. */
export function checksFor({ type }: Readonly<Record<string, unknown>>): MessageChecks {
  const known = jobType.safeParse(type);
  if (!known.success) return { schema: z.looseObject({ ...common, type: jobType }), rules: [] };
  return { schema: messageSchemas[known.data], rules: messageRules[known.data] ?? [] };
}

export type MessageChecks = {
  readonly schema: z.ZodMiniType<object>;
  readonly rules: readonly FieldRule[];
};

/** A message that was checked, with its id filled in. */
export type Job = RunFunctionJob | ScoreJob | UpdateFormulaJob | DataFilesJob | SnapshotJob;
