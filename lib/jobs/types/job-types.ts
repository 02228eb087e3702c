import * as z from 'zod/mini';
import type { RunOutcome } from '../ledger/job-row.ts';
import type { JobFrom, MessageChecks } from '../message/check-message.ts';
import type { RunJob, SendContext } from '../send-context.ts';
import { dataFiles } from './data-files/definition.ts';
import type { JobTypeDefinition, RunnerParts } from './job-type-definition.ts';
import { runFunction } from './run-function/definition.ts';
import { score } from './score/definition.ts';
import { snapshot } from './snapshot/definition.ts';
import { updateFormula } from './update-formula/definition.ts';

/** All job types, by the `type` of a message. Everything that handles job types is built from this table. */
const table = {
  'run-function': runFunction,
  score,
  'update-formula': updateFormula,
  'data-files': dataFiles,
  snapshot,
} as const satisfies Readonly<Record<string, MessageChecks<{ readonly type: string }>>>;

/** The name of a job type, such as `score`. */
export type JobType = keyof typeof table;

/** The checked message of each type. A definition under another type's name does not compile. */
type Messages = {
  readonly [Type in JobType]: z.infer<(typeof table)[Type]['schema']> & { readonly type: Type };
};

/** A job of this type: its checked message with an id. */
type JobOf<Type extends JobType> = { readonly [Each in Type]: JobFrom<Messages[Each]> }[Type];

/** A job of any type. */
export type Job = JobOf<JobType>;

/** The function that does a job, for each type. */
export type Runners = { readonly [Type in JobType]: RunJob<JobOf<Type>> };

/** The table, typed by the message of each type, so that a job matches the definition of its type. */
const definitions: { readonly [Type in JobType]: JobTypeDefinition<Messages[Type]> } = table;

/** The names of all job types. */
export const jobTypes = Object.keys(table) as readonly JobType[];

/** The schema of a job type's name. */
export const jobType = z.enum(jobTypes, { error: `one of ${jobTypes.join(', ')}` });

/** The definition of a job's type. */
export const definitionOf = <Type extends JobType>({
  type,
}: {
  readonly type: Type;
}): JobTypeDefinition<Messages[Type]> => definitions[type];

/** Whether jobs of the type send many requests, and can be cancelled between two requests. */
export const sendsMany = (type: string): boolean => (longTypes as readonly string[]).includes(type);

/** The types of jobs that send many requests, and so spend most of their time waiting for the pace. */
export const longTypes = jobTypes.filter((type) => definitions[type].sendsMany === true);

/** Does a job with the runner of its type. */
export const runJob = <Type extends JobType>(
  runners: Runners,
  job: JobOf<Type>,
  context: SendContext,
): Promise<RunOutcome> => runners[job.type](job, context);

/** Opens the runners of all types. */
export async function openRunners(parts: RunnerParts): Promise<Runners> {
  const opened = jobTypes.map(async (type) => [type, await definitions[type].openRunner(parts)] as const);
  return Object.fromEntries(await Promise.all(opened)) as Runners;
}

/** One message of each type for the tour, whose jobs use these records. */
export const sampleMessages = (
  records: Parameters<(typeof definitions)[JobType]['sample']>[0],
): readonly { readonly id: string }[] => jobTypes.map((type) => definitions[type].sample(records));
