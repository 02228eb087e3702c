/** The batch of a chunk's job; undefined for any other job. */
export const batchOfJob = (id: string): string | undefined => /^(.+)\.chunk-\d+$/.exec(id)?.[1];

/** An id that needs no quotes in a command. Whoever has another one is told the command without it. */
const PLAIN = /^[A-Za-z0-9_][A-Za-z0-9._:-]*$/;

/** What to do about a job, with the command. */
export function adviceFor(id: string, status: 'failed' | 'unknown'): string {
  const named = PLAIN.test(id) ? id : 'ID';
  if (status === 'unknown')
    return `Look on the platform whether it took effect, and record it: platform-sync jobs resolve ${named} done --note "…", or failed; then platform-sync redrive ${named} runs it again.`;
  const batch = batchOfJob(named);
  return batch === undefined
    ? `Once its cause is gone, run it again: platform-sync redrive ${named}`
    : `Once its cause is gone, score what has no score: platform-sync redrive --batch ${batch}`;
}
