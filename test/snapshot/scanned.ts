import type { MissingId, Scan, ScanOutcome } from '../../lib/snapshot/scan.ts';
import { recordsIn } from './batches.ts';

/** The start of a scan that has taken nothing so far. */
export const fromBeginning = { from: undefined, async *readBackKeys() {} };

/** The position of a scan after a step, and its run then; `segment`: the index at which the segment starts. */
export type Passed<Position> = {
  readonly position: Position;
  readonly keys: readonly string[];
  readonly lines: readonly string[];
  readonly missing: readonly MissingId[];
  readonly records: number;
  readonly segment: number;
};

/**
 * Runs a scan to its end, from its beginning or a position, and returns what a run would store: without what was
 * dropped, and with the missing ids of all steps in the outcome. Positions go through JSON, as in a checkpoint.
 * `restarts`: how often it dropped a segment.
 */
export async function scanned<Position>(
  scan: Scan<Position>,
  {
    from,
    signal,
    passed,
    taken = [],
  }: {
    readonly from?: Position | undefined;
    readonly signal?: AbortSignal;
    /** The content of the run at the start position. Default: nothing. */
    readonly passed?: Pick<Passed<Position>, 'keys' | 'lines' | 'missing' | 'segment'>;
    /** Keys that the segment has before the start position, and that the result leaves out. */
    readonly taken?: readonly string[];
  } = {},
) {
  const keys = [...(passed?.keys ?? [])];
  const lines = [...(passed?.lines ?? [])];
  const missing = [...(passed?.missing ?? [])];
  let segment = passed?.segment ?? 0;
  let restarts = 0;
  const totals: (number | null)[] = [];
  const shares: (number | undefined)[] = [];
  const positions: Passed<Position>[] = [];
  async function* readBackKeys() {
    yield [...taken, ...keys.slice(segment)];
  }
  const steps = scan({ from, signal, readBackKeys });
  for (;;) {
    const { done, value } = await steps.next();
    if (done) {
      const outcome = { ...(value satisfies ScanOutcome), missing };
      return { keys, lines, totals, shares, positions, restarts, outcome };
    }
    if (value.segment === 'begins') segment = keys.length;
    if (value.segment === 'restarts') {
      restarts += 1;
      keys.length = segment;
      lines.length = segment;
    }
    const read = recordsIn(value.batch);
    keys.push(...read.keys);
    lines.push(...read.lines);
    missing.push(...(value.missing ?? []));
    totals.push(value.total);
    shares.push(value.share);
    const position: Position = JSON.parse(JSON.stringify(value.position));
    positions.push({
      position,
      keys: [...keys],
      lines: [...lines],
      missing: [...missing],
      records: keys.length,
      segment,
    });
  }
}

/** The lines and outcome of a scan, of one that was not stopped and of those that were resumed from each of its positions. */
export async function resumedEverywhere<Position>(scan: Scan<Position>) {
  const whole = await scanned(scan);
  const resumed = await Promise.all(
    whole.positions.map(async ({ position, ...passed }) => {
      const { lines, outcome } = await scanned(scan, { from: position, passed });
      return { lines, outcome };
    }),
  );
  return { whole: { lines: whole.lines, outcome: whole.outcome }, resumed };
}
