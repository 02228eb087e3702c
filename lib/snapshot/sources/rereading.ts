import * as z from 'zod/mini';
import { emptyBatch } from '../page/record-fields.ts';
import type { ScanStart, ScanStep } from '../scan.ts';

/** How one read of the whole list ended. */
export type ReadEnd<Result, Memo> = {
  readonly result: Result;
  readonly records: number;
  /** Whether this is the last allowed read. The judge must accept it, even if it is not proved. */
  readonly isLast: boolean;
  /** What the judge wants to remember of the previous read; null for the first read. */
  readonly memo: Memo | null;
};

/** What the judge decides about a read: read the list again, or end the scan with this outcome. */
export type Judgement<Outcome, Memo> =
  | { readonly kind: 'again'; readonly memo: Memo | null }
  | { readonly kind: 'ended'; readonly outcome: Outcome };

/** The position in a scan that may read everything several times. It is plain JSON if `Position` and `Memo` are. */
export type RereadPosition<Position, Memo> = {
  /** The number of the read; 1 is the first. */
  readonly read: number;
  readonly records: number;
  readonly at: Position | null;
  readonly memo: Memo | null;
};

/** Schema of a `RereadPosition`. */
export const rereadPosition = <Position, Memo>(
  position: z.ZodMiniType<Position>,
  memo: z.ZodMiniType<Memo>,
): z.ZodMiniType<RereadPosition<Position, Memo>> =>
  z.object({ read: z.number(), records: z.number(), at: z.nullable(position), memo: z.nullable(memo) });

/**
 * How many times a list may be read. If the third read is incomplete too, the list changes too fast, or the platform does not
 * list all of its records.
 */
const MAX_READS = 3;

type RereadingOptions<Position, Result, Outcome, Memo> = {
  readonly read: (
    start: ScanStart<Position>,
    isLast: boolean,
  ) => AsyncGenerator<ScanStep<Position>, Result, undefined>;
  readonly judge: (end: ReadEnd<Result, Memo>) => Judgement<Outcome, Memo>;
};

type Rereading<Position, Outcome, Memo> = (
  start: ScanStart<RereadPosition<Position, Memo>>,
) => AsyncGenerator<ScanStep<RereadPosition<Position, Memo>>, Outcome & { passes: number }, undefined>;

/**
 * Creates a scan that reads everything again if the judge finds a read doubtful; it reads the list at most three times.
 * The records of each read replace the records of the read before.
 */
export function rereading<Position, Result, Outcome extends object, Memo>(
  options: RereadingOptions<Position, Result, Outcome, Memo>,
): Rereading<Position, Outcome, Memo> {
  return async function* ({ from = START, ...start }) {
    let position: RereadPosition<Position, Memo> = from;
    for (;;) {
      const { records, ...end } = yield* readOnce(options, { ...start, from: position });
      if (end.kind === 'ended') return { ...end.outcome, passes: position.read };
      start.signal?.throwIfAborted();
      position = { read: position.read + 1, records: 0, at: null, memo: end.memo };
      yield { batch: emptyBatch, position, total: null, segment: records > 0 ? 'restarts' : undefined };
    }
  };
}

const START = { read: 1, records: 0, at: null, memo: null };

type Judged<Outcome, Memo> = Judgement<Outcome, Memo> & { readonly records: number };

async function* readOnce<Position, Result, Outcome, Memo>(
  { read, judge }: RereadingOptions<Position, Result, Outcome, Memo>,
  start: ScanStart<RereadPosition<Position, Memo>> & { readonly from: RereadPosition<Position, Memo> },
): AsyncGenerator<ScanStep<RereadPosition<Position, Memo>>, Judged<Outcome, Memo>, undefined> {
  const { from } = start;
  const isLast = from.read >= MAX_READS;
  let { records } = from;
  const result = yield* mappedSteps(read({ ...start, from: from.at ?? undefined }, isLast), (step) => {
    records += step.batch.records;
    return { ...step, position: { ...from, records, at: step.position } };
  });
  return { ...judge({ result, records, isLast, memo: from.memo }), records };
}

/**
 * Applies `change` to each step of a scan, and returns the scan's result. If the caller stops early, the scan is ended.
 */
export async function* mappedSteps<Step, Changed, Result>(
  steps: AsyncGenerator<Step, Result, undefined>,
  change: (step: Step) => Changed,
): AsyncGenerator<Changed, Result, undefined> {
  try {
    for (;;) {
      const { done, value } = await steps.next();
      if (done) return value;
      yield change(value);
    }
  } finally {
    await steps.return(undefined as never);
  }
}
