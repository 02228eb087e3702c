import * as z from 'zod/mini';
import { preview } from '../../json/faults.ts';
import { type Allow, allowFault } from '../allow.ts';
import { type Job, type JobType, jobType, readJobOf } from '../types/job-types.ts';
import { checkMessage } from './check-message.ts';
import { common, type GivenMessage, isObject } from './fields.ts';
import { readMessageJson } from './message-json.ts';
import { type ReadJob, type RefusedMessage, refused } from './read-job.ts';

/** A message as it was understood: the job that it asks for, or why it cannot become one. */
export type ParsedMessage = ReadJob<Job> | RefusedMessage;

/** What a message is read with. */
export type MessageOptions = {
  /** The queue's id of the message: the id of a job of some types, if its message names none. */
  readonly messageId: string;
  readonly allow: Allow;
};

/** The job that a message asks for: its text is checked, its id and defaults are filled in. */
export function parseMessage(text: string, options: MessageOptions): ParsedMessage {
  const read = readMessageJson(text);
  if (read.kind === 'fault') return { kind: 'refused', faults: [read.fault] };
  const given = read.value;
  if (!isObject(given))
    return { kind: 'refused', faults: [`message: expected an object, got ${kindOf(given)}`] };
  const { data: type } = jobType.safeParse(given['type']);
  return type === undefined ? refused(given, faultsOfNoType(given)) : parseOf(type, given, options);
}

function parseOf(type: JobType, given: GivenMessage, options: MessageOptions): ParsedMessage {
  const read = readJobOf(type, given, options);
  if (read.kind === 'refused') return read;
  const fault = allowFault(options.allow, read.job);
  return fault === undefined ? read : refused(given, [fault]);
}

/** What is wrong with a message of no type, as far as it can be told. */
function faultsOfNoType(given: GivenMessage): readonly string[] {
  const checked = checkMessage({ schema: messageOfNoType, rules: [] }, given);
  return checked.kind === 'faults' ? checked.faults : [];
}

const messageOfNoType = z.looseObject({ ...common, type: jobType });

/** What came in place of an object, without its content: a bare text may be one to score. */
const kindOf = (value: unknown) => (typeof value === 'string' ? 'a text' : preview(value));
