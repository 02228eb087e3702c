import type { Claim } from '../../scan.ts';
import type { Judgement, ReadEnd } from '../rereading.ts';
import type { FilesetResult } from './fileset-read.ts';

/*
 * What a cursor proves. The cursor is the sort key of the last row, so the next page begins after that key, whatever
 * was added or deleted in the meantime: a file whose key does not change is returned exactly once. A file whose key
 * changes while its FileSet is read (a rename, if the order is by path; the default order is not documented) can be
 * returned twice, or not at all. So the order proves nothing; counting may. Each file that was read existed when it
 * was read. Suppose the platform reported n files at one moment, and we read n different files that all existed at that
 * moment: then those are all the files of that moment, and among them each that existed throughout. They existed then
 * - if there was a single response: it is the moment;
 * - if each was created well before the start, for the total of the start. Where files can enter the selection in
 *   another way than by being created, this does not count;
 * - if two reads, one after the other, found the same n files, for the first total of the second read: what existed
 *   before and after that moment existed then, unless an id that was gone came back.
 * A file that came twice, or fewer files than both totals, mean that something moved, or that a response was not
 * current: everything is read again.
 */

/** What is known of a FileSet, and what remains to be written of it. */
export type FilesetOutcome = Claim & Pick<FilesetResult, 'batch' | 'totals'>;

/**
 * Judges a read of a FileSet. What is stored for the next read is the digest of the files. `isWhole`: files enter the
 * selection only by being created.
 */
export function judgeRead(
  { result, isLast, memo }: ReadEnd<FilesetResult, string>,
  isWhole: boolean,
): Judgement<FilesetOutcome, string> {
  const { batch, totals, digest } = result;
  const ended = (claim: Claim) => ({ kind: 'ended', outcome: { ...claim, batch, totals } }) as const;
  if (result.looped) return ended(BEST_EFFORT);
  if (isDoubtful(result)) return isLast ? ended(BEST_EFFORT) : { kind: 'again', memo: null };
  const { start, end } = totals;
  if (start !== result.files || end !== result.files) return ended(BY_CURSOR);
  if (result.pages === 1) return ended(proved('exact-totals'));
  if (isWhole && result.isSettled) return ended(proved('exact-totals', 'exact-creation-times'));
  if (memo === digest) return ended(proved('exact-totals', 'unique-ids'));
  return isLast ? ended(BY_CURSOR) : { kind: 'again', memo: digest };
}

const BEST_EFFORT: Claim = { consistency: 'best-effort', assumes: [] };
const BY_CURSOR: Claim = { consistency: 'cursor', assumes: ['current-responses', 'fixed-order'] };

const proved = (...assumes: Claim['assumes']): Claim => ({ consistency: 'proved', assumes });

function isDoubtful({ files, repeats, totals: { start, end } }: FilesetResult): boolean {
  return repeats > 0 || (start !== null && end !== null && files < Math.min(start, end));
}
