import { type Claim, provedIf } from '../../scan.ts';
import type { Judgement, ReadEnd } from '../rereading.ts';
import type { FilesetResult } from './fileset-read.ts';

/*
 * What a read proves. A cursor is the sort key of the last row, so the next page begins after that key, whatever was
 * added or deleted in the meantime: a file whose key does not change is returned exactly once. When a file was created
 * and its id do not change, so a list in that order is proved by one read, if it is shown that the platform keeps to the
 * order. In any other one a rename may move a file past the cursor, and only these count:
 * - a single response: it is the list of one moment;
 * - two reads, one after the other, of exactly the same files. A file that both missed moved past the cursor twice, and
 *   back in between, while no other came or went. Where the platform reports more files than there were when the second
 *   read began, one was missed, or went since: that is no proof.
 * A file that came twice, or fewer files than both totals, mean that something moved, or that a response was not
 * current: such a read counts for nothing.
 */

/** What is known of a FileSet, and what remains to be written of it. */
export type FilesetOutcome = Claim & Pick<FilesetResult, 'batch' | 'totals' | 'isAscending'>;

/** Judges a read of a FileSet. What is stored for the next read is the digest of the files. */
export function judgeRead({
  result,
  isLast,
  memo,
}: ReadEnd<FilesetResult, string>): Judgement<FilesetOutcome, string> {
  const { batch, totals, isAscending, digest } = result;
  const claim = claimOf(result, memo);
  if (claim.consistency === 'proved' || isLast)
    return { kind: 'ended', outcome: { ...claim, batch, totals, isAscending } };
  return { kind: 'again', memo: isDoubtful(result) ? null : digest };
}

function claimOf(result: FilesetResult, memo: string | null): Claim {
  const { files, totals, pages, digest } = result;
  if (isDoubtful(result)) return provedIf(false, []);
  if (pages === 1) return provedIf(true, ['current-responses']);
  if (result.isSorted) return provedIf(true, ['current-responses', 'fixed-creation-times', 'kept-order']);
  return provedIf(memo === digest && (totals.start ?? 0) <= files, ['not-missed-twice']);
}

function isDoubtful({ files, repeats, totals: { start, end } }: FilesetResult): boolean {
  return repeats > 0 || (start !== null && end !== null && files < Math.min(start, end));
}
