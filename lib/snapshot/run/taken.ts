import type { CallCounts } from '../../platform/index.ts';
import { createFieldTypes } from '../page/field-types.ts';
import type { RecordBatch } from '../page/record-batch.ts';
import type { Checkpoint } from './checkpoint.ts';

/** Calls made in this process so far. */
export type CountCalls = () => CallCounts;

type Facts = Pick<Checkpoint, 'position' | 'records' | 'fields' | 'calls' | 'atRisk'>;

/** Counts what a slice takes after its checkpoint, and how much of it a crash would cost. */
export function countTaken(before: Checkpoint, callCounts: CountCalls) {
  let fieldTypes = createFieldTypes(before.fields);
  const callsBefore = callCounts();
  let { position, records } = before;
  let { atRisk } = before;
  let durableRequests = callsBefore.requests;
  let sinceMs: number | undefined;
  const unsavedMs = () => (sinceMs === undefined ? 0 : performance.now() - sinceMs);
  const mostAtRisk = () => ({
    seconds: Math.max(atRisk.seconds, Math.round(unsavedMs() / 100) / 10),
    requests: Math.max(atRisk.requests, callCounts().requests - durableRequests),
  });
  return {
    unsavedMs,
    records: () => records,
    /** Records with these fields are being added. Throws `JsonLimitError` for more names than a run may have. */
    begin({ fields }: Pick<RecordBatch, 'fields'>): void {
      fieldTypes.merge(fields);
      sinceMs ??= performance.now();
    },
    add({ records: added }: Pick<RecordBatch, 'records'>, after: unknown): void {
      records += added;
      position = after;
    },
    /** Goes back to these records; the scan is at this position then. */
    restart(start: Pick<Checkpoint, 'records' | 'fields'>, after: unknown): void {
      fieldTypes = createFieldTypes(start.fields);
      [records, position] = [start.records, after];
      sinceMs = undefined;
    },
    /** What the checkpoint is to say now. */
    facts(): Facts {
      atRisk = mostAtRisk();
      const calls = added(before.calls, callCounts(), callsBefore);
      return { position, records, fields: fieldTypes.seen(), calls, atRisk };
    },
    /** Everything that was added is durable. */
    isDurable(): void {
      durableRequests = callCounts().requests;
      sinceMs = undefined;
    },
  };
}

/** The calls of a run: those of earlier processes plus those that this one has made since. */
function added(earlier: CallCounts, now: CallCounts, before: CallCounts): CallCounts {
  return {
    requests: earlier.requests + now.requests - before.requests,
    retries: earlier.retries + now.retries - before.retries,
    throttled: earlier.throttled + now.throttled - before.throttled,
    waitedMs: earlier.waitedMs + now.waitedMs - before.waitedMs,
  };
}
