import type { Scan, ScanOutcome } from '../../lib/snapshot/scan.ts';

/** All that a scan tells, from its beginning or from a position; positions go through JSON, as in a checkpoint. */
export async function scanned<Position>(
  scan: Scan<Position>,
  { from, signal }: { readonly from?: Position | undefined; readonly signal?: AbortSignal } = {},
) {
  const keys: string[] = [];
  const lines: string[] = [];
  const totals: (number | null)[] = [];
  const positions: { readonly position: Position; readonly records: number }[] = [];
  const steps = scan({ from, signal });
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return { keys, lines, totals, positions, outcome: value satisfies ScanOutcome };
    keys.push(...value.batch.keys);
    lines.push(...Buffer.from(value.batch.lines).toString().split('\n').slice(0, -1));
    totals.push(value.total);
    positions.push({ position: JSON.parse(JSON.stringify(value.position)), records: keys.length });
  }
}

/** The same scan, gone on with from each of its positions in turn: what was there before, and the rest. */
export async function resumedEverywhere<Position>(scan: Scan<Position>) {
  const whole = await scanned(scan);
  const resumed = await Promise.all(
    whole.positions.map(async ({ position, records }) => {
      const { lines, outcome } = await scanned(scan, { from: position });
      return { lines: [...whole.lines.slice(0, records), ...lines], outcome };
    }),
  );
  return { whole: { lines: whole.lines, outcome: whole.outcome }, resumed };
}
