import * as z from 'zod/mini';
import type { Share } from '../../pace/fair-order.ts';
import type { AllowLists } from '../allow-lists.ts';
import type { EndedJobRow, Outcome } from '../ledger/job-row.ts';
import type { ExpandedMessage, MessageChecks } from '../message/check-message.ts';
import type { GivenMessage } from '../message/fields.ts';
import {
  type JobBy,
  type ReadJob,
  type ReadOptions,
  type RefusedMessage,
  readJob,
} from '../message/read-job.ts';
import type { RunJob, Turn } from '../turn.ts';
import { dataFiles } from './data-files/definition.ts';
import type {
  CheckParts,
  EndParts,
  JobTypeDefinition,
  RunnerParts,
  SampleRecords,
} from './job-type-definition.ts';
import { runFunction } from './run-function/definition.ts';
import { score } from './score/definition.ts';
import { snapshot } from './snapshot/definition.ts';
import { updateFormula } from './update-formula/definition.ts';

/** What a job may do, by the `type` of its message: everything that handles job types is made from this table. */
const table = {
  'run-function': runFunction,
  score,
  'update-formula': updateFormula,
  'data-files': dataFiles,
  snapshot,
} as const satisfies Readonly<Record<string, { readonly checks: MessageChecks<{ readonly type: string }> }>>;

export type JobType = keyof typeof table;

/** The checked messages of each type; a definition under another type's name does not compile. */
type Messages = {
  readonly [Type in JobType]: z.infer<(typeof table)[Type]['checks']['schema']> & { readonly type: Type };
};

/** A job of this type: what its message requests, with its id filled in. */
export type JobOf<Type extends JobType> = { readonly [Each in Type]: JobBy<Messages[Each]> }[Type];

/** A job of any type. */
export type Job = JobOf<JobType>;

/** One runner for each job type. */
export type Runners = { readonly [Type in JobType]: RunJob<JobOf<Type>> };

/** The table, typed by the message of each type, so that a job matches the definition of its type. */
const definitions: { readonly [Type in JobType]: JobTypeDefinition<Messages[Type]> } = table;

/** The names of all job types. */
export const jobTypes = Object.keys(table) as readonly JobType[];

/** Schema of the name of a job type. */
export const jobType = z.enum(jobTypes, { error: `one of ${jobTypes.join(', ')}` });

/** The job that a message of this type requests, or why it cannot become one. */
export const readJobOf = <Type extends JobType>(
  type: Type,
  given: GivenMessage,
  options: ReadOptions,
): ReadJob<JobOf<Type>> | RefusedMessage => readJob(definitions[type].checks, given, options);

/** A message of this type in the form that is checked. */
export const expand = (type: JobType, message: GivenMessage): ExpandedMessage =>
  definitions[type].checks.expand?.(message) ?? { given: message, faults: [] };

/** True if a send of the job may be repeated when its outcome is unknown. */
export const mayRepeat = <Type extends JobType>(job: JobOf<Type>): boolean =>
  definitions[job.type].mayRepeat(job);

/** True if the job is claimed before it is prepared. */
export function isClaimedFirst<Type extends JobType>({ type }: JobOf<Type>): boolean {
  const definition: JobTypeDefinition<Messages[Type]> = definitions[type];
  return definition.isClaimedFirst === true;
}

/** True if jobs of the type end between two sends once a person cancels them; false for an unknown type. */
export const stopsWhenCancelled = (type: string): boolean =>
  isJobType(type) && definitions[type].stopsWhenCancelled;

const isJobType = (type: string): type is JobType => Object.hasOwn(definitions, type);
/** Whose calls the job's are: by its message's priority, or by its type. */
export function shareOf<Type extends JobType>(job: JobOf<Type>): Share {
  const definition: JobTypeDefinition<Messages[Type]> = definitions[job.type];
  return job.priority ?? (definition.isBulk?.(job) === true ? 'bulk' : 'normal');
}

/** How long one send of the job may last, in milliseconds. */
export const mustLastMs = <Type extends JobType>({ type }: JobOf<Type>, timeoutMs: number): number =>
  definitions[type].mustLastMs(timeoutMs);

/** Why the lists of SYNC_ALLOW do not allow the job, or undefined if they do. */
export const listFault = <Type extends JobType>(job: JobOf<Type>, lists: AllowLists): string | undefined =>
  definitions[job.type].allowFault(job, lists);

/** What is wrong with the job although its message is valid, as far as that is known without the platform. */
export function faultsHere<Type extends JobType>(job: JobOf<Type>, parts: CheckParts): readonly string[] {
  const definition: JobTypeDefinition<Messages[Type]> = definitions[job.type];
  return definition.faultsHere?.(job, parts) ?? [];
}

/** The most calls of the platform that the job takes if none is repeated; undefined where nobody knows before. */
export const mostCalls = <Type extends JobType>(job: JobOf<Type>): number | undefined =>
  definitions[job.type].mostCalls(job);

/** Runs the job by the runner of its type. */
export const runBy = <Type extends JobType>(
  runners: Runners,
  job: JobOf<Type>,
  turn: Turn,
): Promise<Outcome> => runners[job.type](job, turn);

/** Does what must follow the end of a job. */
export const settleEnd = <Type extends JobType>(
  job: JobOf<Type>,
  ended: EndedJobRow,
  parts: EndParts,
): Promise<void> => definitions[job.type].afterEnd(job, ended, parts);

/** Does what must come before a failed job is reopened. */
export const prepareReopen = <Type extends JobType>(job: JobOf<Type>, parts: EndParts): Promise<void> =>
  definitions[job.type].beforeReopen(job, parts);

/** The runners of a worker. Throws if a setting for one of them is invalid. */
export async function openRunners(parts: RunnerParts): Promise<Runners> {
  const opened = jobTypes.map(async (type) => [type, await definitions[type].openRunner(parts)] as const);
  return Object.fromEntries(await Promise.all(opened)) as Runners;
}

/** A message of each type, for the tour. */
export const sampleMessages = (records: SampleRecords): readonly { readonly id: string }[] =>
  jobTypes.map((type) => definitions[type].sample(records));
