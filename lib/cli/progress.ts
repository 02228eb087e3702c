import type { SnapshotProgress } from '../snapshot/take-snapshot.ts';

/** A line of progress at most every two seconds. */
const LINE_EVERY_MS = 2_000;

export type ProgressOptions = { readonly err: (text: string) => void; readonly now: () => number };

/** Tells how far a snapshot has come, in plain lines that a log can keep. `now` in milliseconds. */
export function createProgress(
  source: string,
  { err, now }: ProgressOptions,
): (progress: SnapshotProgress) => void {
  const startedMs = now();
  let nextMs = startedMs + LINE_EVERY_MS;
  return ({ records, total }) => {
    const nowMs = now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + LINE_EVERY_MS;
    const rate = Math.round((records * 1000) / (nowMs - startedMs));
    const all = total === null ? '' : ` of about ${total.toLocaleString('en')}`;
    err(`${source}: ${records.toLocaleString('en')}${all} records, ${rate.toLocaleString('en')} a second`);
  };
}
