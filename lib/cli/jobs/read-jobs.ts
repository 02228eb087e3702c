import { randomUUID } from 'node:crypto';
import type { Allow } from '../../jobs/allow.ts';
import { checkJobLines, linesIn } from '../../jobs/message/job-lines.ts';
import { parseMessage } from '../../jobs/message/message.ts';
import { withId } from '../../jobs/message/with-id.ts';
import { MOST_MESSAGE_BYTES } from '../../jobs/queue/queue.ts';
import { sentBytes } from '../../jobs/queue/sendable.ts';
import { definitionOf } from '../../jobs/types/job-types.ts';
import { andMore } from '../terminal/words.ts';

/** A job that may be sent, with its id. */
export type ReadJob = { readonly id: string; readonly text: string };

export type ReadJobs =
  | { readonly kind: 'jobs'; readonly jobs: readonly ReadJob[] }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/** What is wrong with jobs although their messages are valid, such as a formula that does not parse; each named. */
export async function faultsOfJobs(jobs: readonly ReadJob[]): Promise<readonly string[]> {
  // Large, and needed only for a dry run.
  const { analyzeFormula } = await import('../../formula/index.ts');
  const faults: string[] = [];
  for (const [index, { id, text }] of jobs.entries()) {
    const { job } = parsed(text, {});
    for (const fault of definitionOf(job).faultsHere?.(job, { analyzeFormula }) ?? [])
      faults.push(`job ${index + 1} (${id}): ${fault}`);
  }
  return firstOf(faults);
}

/** The jobs in a JOBS.ndjson, each with its id, or every fault in it. */
export async function readJobs(text: string, allow: Allow): Promise<ReadJobs> {
  const read = await checkJobLines(linesIn(text), allow);
  if (read.kind === 'faults') return read;
  if (read.messages.length === 0) return { kind: 'faults', faults: ['expected at least one job, got none'] };
  const jobs = read.messages.map((message) => named(message, allow));
  const faults = jobs
    .filter((job) => sentBytes(job.text) > MOST_MESSAGE_BYTES)
    .map(
      ({ id }) =>
        `the job that was given the id ${id}: expected at most ${MOST_MESSAGE_BYTES} bytes, including the id`,
    );
  return faults.length === 0 ? { kind: 'jobs', jobs } : { kind: 'faults', faults: firstOf(faults) };
}

/**
 * A job whose id would be that of its message on the queue gets one here. The queue gives a different one to each copy:
 * a send that is repeated after its response was lost would run a function twice.
 */
function named(text: string, allow: Allow): ReadJob {
  const { job, isNamed } = parsed(text, allow);
  return { id: job.id, text: isNamed ? text : withId(text, job.id) };
}

function parsed(text: string, allow: Allow) {
  const read = parseMessage(text, { messageId: randomUUID(), allow });
  if (read.kind === 'refused')
    throw new Error(`a line that was checked is refused: ${read.faults.join('; ')}`);
  return read;
}

const MOST_FAULTS = 50;

const firstOf = (faults: readonly string[]) => [
  ...faults.slice(0, MOST_FAULTS),
  ...andMore(faults.length - MOST_FAULTS),
];
