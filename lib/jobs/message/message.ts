import * as z from 'zod/mini';
import { preview } from '../../base/index.ts';
import { type Allow, allowFault } from '../allow.ts';
import { definitionOf, type Job, type JobType, jobType } from '../types/job-types.ts';
import {
  checkMessage,
  common,
  isObject,
  type ReadJob,
  type RefusedMessage,
  readJob,
  readMessageJson,
  refused,
  type UncheckedMessage,
} from './check-message.ts';

type MessageOptions = {
  /** The queue's id of the message. For some types it becomes the job's id, if the message has no id. */
  readonly messageId: string;
  readonly allow: Allow;
};

/** Parses and checks the JSON of a message. Returns its job, or why the message is refused. */
export function parseMessage(text: string, options: MessageOptions): ReadJob<Job> | RefusedMessage {
  const read = readMessageJson(text);
  if (read.kind === 'fault') return { kind: 'refused', faults: [read.fault] };
  const message = read.value;
  if (!isObject(message))
    return { kind: 'refused', faults: [`message: expected an object, got ${kindOf(message)}`] };
  const { data: type } = jobType.safeParse(message['type']);
  return type === undefined ? refused(message, faultsOfUntyped(message)) : parseOf(type, message, options);
}

/** The maximum number of calls that the job of a message makes; undefined if that is not known beforehand. */
export function maxCallsOf(text: string): number | undefined {
  const read = parseMessage(text, { messageId: '', allow: {} });
  return read.kind === 'job' ? definitionOf(read.job).maxCalls(read.job) : undefined;
}

function parseOf(
  type: JobType,
  message: UncheckedMessage,
  options: MessageOptions,
): ReadJob<Job> | RefusedMessage {
  const definition = definitionOf({ type });
  const { message: expanded, faults } = definition.expand?.(message) ?? { message, faults: [] };
  const read = readJob(definition, expanded, { ...options, faults });
  if (read.kind === 'refused') return read;
  const fault = allowFault(options.allow, read.job);
  return fault === undefined ? read : refused(expanded, [fault]);
}

function faultsOfUntyped(message: UncheckedMessage): readonly string[] {
  const checked = checkMessage({ schema: untypedMessage }, message);
  return checked.kind === 'faults' ? checked.faults : [];
}

const untypedMessage = z.looseObject({ ...common, type: jobType });

/** What was received instead of an object, without its content: a bare string may be a text to score. */
const kindOf = (value: unknown) => (typeof value === 'string' ? 'text' : preview(value));
