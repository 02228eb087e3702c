import * as z from 'zod/mini';
import { anyRecord, slashlessSegment, uuid } from '../../../base/index.ts';
import type { MessageChecks } from '../../message/check-message.ts';
import { common, yesOrNo } from '../../message/fields.ts';
import type { JobBy } from '../../message/read-job.ts';
import { fromEvent } from './from-event.ts';

const runFunctionMessage = z.strictObject({
  ...common,
  type: z.literal('run-function', { error: 'run-function' }),
  packageId: uuid,
  packageVersion: slashlessSegment,
  functionName: slashlessSegment,
  inputVariables: z.optional(anyRecord('an object of input variables')),
  settings: z.optional(z.looseObject({ getLogs: z.optional(yesOrNo) }, { error: 'an object of settings' })),
  /** What happens if it is unknown whether the function ran: by default the job fails and is not sent again. */
  onUnknown: z._default(z.enum(['fail', 'retry'], { error: 'fail or retry' }), 'fail'),
});

export type RunFunctionMessage = z.infer<typeof runFunctionMessage>;
export type RunFunctionInput = z.input<typeof runFunctionMessage>;
export type RunFunctionJob = JobBy<RunFunctionMessage>;

/** Two messages without an id are two runs, even with equal content; those of event rules get one from the event. */
export const runFunctionChecks: MessageChecks<RunFunctionMessage, RunFunctionInput> = {
  schema: runFunctionMessage,
  rules: [],
  defaultId: 'message-id',
  expand: fromEvent,
};
