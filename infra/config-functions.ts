import * as z from 'zod/mini';
import { type Source, sources } from '../lib/contract.ts';
import { pathSegment } from './config-events.ts';
import { atSynth, isToken, name, orToken, uuid } from './config-fields.ts';
import { cron, timeZone } from './config-schedules.ts';

/**
 * The placeholder that EventBridge Scheduler replaces with the scheduled time. Its other placeholders differ with each
 * attempt, so each attempt would be another job.
 */
export const SCHEDULED_TIME = '<aws.scheduler.scheduled-time>';

const ONLY_SCHEDULED_TIME = `no placeholder of EventBridge Scheduler except ${SCHEDULED_TIME}: other placeholders have a new value at each attempt, so a second attempt would be another job`;

const NO_ROUNDING = 'a number below 2^53, or a string: reading this number from JSON loses digits';

const TOO_DEEP = 'at most 90 levels of lists and objects';
const MAX_LEVELS = 90;

type ValueFault = { readonly path: readonly string[]; readonly expected: string };

/** Finds values that would not reach the function unchanged. */
function valueFaults(value: unknown, path: readonly string[] = []): readonly ValueFault[] {
  if (isToken(value)) return [];
  if (typeof value === 'string')
    return value.replaceAll(SCHEDULED_TIME, '').includes('<aws.scheduler.')
      ? [{ path, expected: ONLY_SCHEDULED_TIME }]
      : [];
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? [{ path, expected: NO_ROUNDING }] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (path.length >= MAX_LEVELS) return [{ path: path.slice(0, 1), expected: TOO_DEEP }];
  return Object.entries(value).flatMap(([key, each]) => [
    ...valueFaults(key, [...path, key]),
    ...valueFaults(each, [...path, key]),
  ]);
}

const inputVariables = z
  .record(z.string(), z.unknown(), { error: 'an object of input variables' })
  .check(({ value, issues }) => {
    for (const { path, expected } of valueFaults(value))
      issues.push({ code: 'custom', path: [...path], message: expected, input: undefined });
  });

const isSource = (value: string) => sources.includes(value as Source);

/** A function on a schedule: each scheduled time becomes a `run-function` message. */
const scheduledFunctionFields = {
  /** The schedule's name. Its jobs have the ids NAME.TIME, with the scheduled time. Required. */
  name: atSynth(name).check(
    z.refine((value) => !isSource(value), {
      error: `a name other than ${sources.join(', ')}, whose snapshots have such ids`,
    }),
  ),
  /** When to run it: a cron expression of EventBridge Scheduler, six fields. Required. */
  cron,
  /** The IANA name of the cron's time zone. Default: UTC. */
  timeZone: z._default(timeZone, 'UTC'),
  /** The UUID of the function's package. Required. */
  packageId: uuid('a package'),
  /** A released version of the package. Required. */
  packageVersion: pathSegment,
  /** The name of the function, which runs once for each scheduled time. Required. */
  functionName: pathSegment,
  /**
   * The function's inputs: JSON in whose strings `<aws.scheduler.scheduled-time>` stands for the scheduled time.
   * Default: none.
   */
  inputVariables: z.optional(inputVariables),
  /**
   * Whether to import the formulas that the function returns: a list of {id, expression, name?, datasetId?}.
   * Default: false.
   */
  importFormulas: z.optional(z.literal(true, { error: 'true' })),
  /** What to do if it is unknown whether the function ran: fail, or retry, which may run it twice. Default: fail. */
  onUnknown: z.optional(orToken(z.enum(['fail', 'retry']), 'fail or retry')),
};
export interface ScheduledFunctionSchema
  extends z.ZodMiniObject<typeof scheduledFunctionFields, z.core.$strict> {}
export const scheduledFunctionSchema: ScheduledFunctionSchema = z.strictObject(scheduledFunctionFields, {
  error: 'a function on a schedule',
});

/** A function on a schedule, checked and with its defaults. */
export type ScheduledFunction = z.infer<typeof scheduledFunctionSchema>;
