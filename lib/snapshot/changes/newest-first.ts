import { runOfId } from '../run-id.ts';

/** A run, when it started (ISO 8601), and the runs that it came after: the one it replaced, the one published when it began. */
export type Begun = { readonly run: string; readonly startedAt: string; readonly after: readonly string[] };

/**
 * Names of runs, newest first: each before those that it came after, whatever the clocks said. First `latest`, the run it
 * replaced, the one published when it began, and what these came after. Of all others, the one that started last comes
 * next: just before the newest run that it came after; where all of those are gone, after the last one that did not start
 * earlier. None that is published comes before `latest`.
 */
export function newestFirst(
  runs: readonly Begun[],
  latest: string | undefined,
  isPublished: (run: string) => boolean = () => true,
): readonly string[] {
  const known = new Map(runs.map((each) => [each.run, each]));
  const startOf = (run: string) => known.get(run)?.startedAt ?? runOfId(run).startedAt;
  const order: string[] = [];
  const placed = new Set<string>();
  /** A run and all that it came after, as far as that is in no place yet. */
  const lineFrom = (head: string): readonly string[] => {
    const line: string[] = [];
    const left = [head];
    for (let run = left.pop(); run !== undefined; run = left.pop()) {
      if (placed.has(run)) continue;
      placed.add(run);
      line.push(run);
      left.push(...(known.get(run)?.after ?? []).toReversed());
    }
    return line;
  };
  if (latest !== undefined) order.push(...lineFrom(latest));
  for (const head of [...known.keys()].sort((a, b) => compare(startOf(b), startOf(a)) || compare(b, a))) {
    if (placed.has(head)) continue;
    const line = lineFrom(head);
    const after = new Set(line.flatMap((run) => known.get(run)?.after ?? []));
    const at = order.findIndex((run) => after.has(run));
    const behind = order.findLastIndex((run) => startOf(run) >= startOf(head)) + 1;
    const least = latest !== undefined && isPublished(head) ? 1 : 0;
    order.splice(Math.max(least, at < 0 ? behind : at), 0, ...line);
  }
  return order.filter((run) => known.has(run));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
