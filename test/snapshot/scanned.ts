import type { MissingId, Scan, ScanOutcome } from '../../lib/snapshot/scan.ts';
import { recordsIn } from './batches.ts';

/** The start of a scan that has taken nothing yet. */
export const fromBeginning = { from: undefined, async *readBackKeys() {} };

/** The position of a scan after a step, and the content of the run: its lines, its missing ids, and the start of its segment. */
export type Passed<Position> = {
  readonly position: Position;
  readonly keys: readonly string[];
  readonly lines: readonly string[];
  readonly missing: readonly MissingId[];
  readonly records: number;
  readonly segment: number;
};

/**
 * All that a scan returns, from its beginning or from where it has been, as a run would store it: without what it
 * dropped, and with the missing ids of all steps in its outcome. Positions go through JSON, as in a checkpoint. `restarts`: how often it dropped something.
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
    /** What the run had at this start. Default: nothing. */
    readonly passed?: Pick<Passed<Position>, 'keys' | 'lines' | 'missing' | 'segment'>;
    /** Keys of the segment that were taken before this start, and are not in the result. */
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

/** The same scan, resumed from each of its positions in turn: all lines, and the outcome. */
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
