import type { Scan, ScanOutcome } from '../../lib/snapshot/scan.ts';

/** The start of a scan that has taken nothing yet. */
export const fromBeginning = { from: undefined, takenKeys: async () => new Set<string>() };

/** All that a scan returns, from its beginning or from a position. Positions go through JSON, as in a checkpoint. */
export async function scanned<Position>(
  scan: Scan<Position>,
  {
    from,
    signal,
    taken = [],
  }: {
    readonly from?: Position | undefined;
    readonly signal?: AbortSignal;
    /** Keys that were taken before this start. */
    readonly taken?: readonly string[];
  } = {},
) {
  const keys: string[] = [];
  const lines: string[] = [];
  const totals: (number | null)[] = [];
  const positions: { readonly position: Position; readonly records: number }[] = [];
  const takenKeys = async () => new Set([...taken, ...keys]);
  const steps = scan({ from, signal, takenKeys });
  for (;;) {
    const { done, value } = await steps.next();
    if (done) return { keys, lines, totals, positions, outcome: value satisfies ScanOutcome };
    keys.push(...value.batch.keys);
    lines.push(...Buffer.from(value.batch.lines).toString().split('\n').slice(0, -1));
    totals.push(value.total);
    positions.push({ position: JSON.parse(JSON.stringify(value.position)), records: keys.length });
  }
}

/** The same scan, resumed from each of its positions in turn: the lines before the position, and the rest. */
export async function resumedEverywhere<Position>(scan: Scan<Position>) {
  const whole = await scanned(scan);
  const resumed = await Promise.all(
    whole.positions.map(async ({ position, records }) => {
      const taken = whole.keys.slice(0, records);
      const { lines, outcome } = await scanned(scan, { from: position, taken });
      return { lines: [...whole.lines.slice(0, records), ...lines], outcome };
    }),
  );
  return { whole: { lines: whole.lines, outcome: whole.outcome }, resumed };
}
