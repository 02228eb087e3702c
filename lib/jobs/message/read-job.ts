import { createHash } from 'node:crypto';
import { canonicalJson } from '../../base/index.ts';
import { checkMessage, type MessageChecks } from './check-message.ts';
import { type GivenMessage, jobId, NOT_CONTENT } from './fields.ts';

/** The job that a message asks for: the checked message, with its id. */
export type JobBy<Message> = Message & { readonly id: string };

/**
 * A job read from its message. `contentHash`: SHA-256 (hex) of the canonical message without `NOT_CONTENT`. `isNamed`: false
 * if the job got the queue's id of the message, which a copy of the message does not have: such a message must be given
 * its id before anything else is done with it.
 */
export type ReadJob<Job> = {
  readonly kind: 'job';
  readonly job: Job;
  readonly contentHash: string;
  readonly isNamed: boolean;
};

/** Why a message cannot become a job, with every fault; `id` is the id in the message, if that is a valid one. */
export type RefusedMessage = {
  readonly kind: 'refused';
  readonly faults: readonly string[];
  readonly id?: string;
};

/** `messageId`: the queue's id of the message. `faults`: those that were found before; none by default. */
export type ReadOptions = { readonly messageId: string; readonly faults?: readonly string[] };

/** The job that a message of a known type asks for. */
export function readJob<Message extends { readonly id?: string | undefined }>(
  checks: MessageChecks<Message>,
  given: GivenMessage,
  { messageId, faults = [] }: ReadOptions,
): ReadJob<JobBy<Message>> | RefusedMessage {
  const checked = checkMessage(checks, given);
  if (checked.kind === 'faults') return refused(given, [...faults, ...checked.faults]);
  if (faults.length > 0) return refused(given, faults);
  const { message } = checked;
  const contentHash = hashOf(given);
  const isByQueue = checks.defaultId === 'message-id';
  const id = message.id ?? (isByQueue ? messageId : contentHash);
  return {
    kind: 'job',
    job: { ...message, id },
    contentHash,
    isNamed: message.id !== undefined || !isByQueue,
  };
}

/** A message that cannot become a job, with its id if it names one. */
export function refused(given: GivenMessage, faults: readonly string[]): RefusedMessage {
  const { data: id } = jobId.safeParse(given['id']);
  return id === undefined ? { kind: 'refused', faults } : { kind: 'refused', faults, id };
}

function hashOf(given: GivenMessage): string {
  const content = Object.fromEntries(Object.entries(given).filter(([name]) => !NOT_CONTENT.has(name)));
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
