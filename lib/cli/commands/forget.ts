import { type Erased, eraseOldVersions, forgetBatch, forgetText } from '../../jobs/texts/forget.ts';
import type { Run } from '../commands.ts';
import { oneGiven } from '../errors/usage-error.ts';
import { eraseDeleted, openJobs } from '../jobs/open-jobs.ts';
import { isSure } from '../terminal/questions.ts';
import { checkedBatch, checkedHash } from '../texts/score-names.ts';

/** Erases a text, or a batch, from cache, staged chunks and scores. Does not need the platform. */
export default (async (_, { textHash, batch, yes }, terminal) => {
  oneGiven({ '--text-hash': textHash, '--batch': batch }, 'needed');
  const hash = textHash === undefined ? undefined : checkedHash(textHash);
  const name = checkedBatch(batch ?? 'none');
  const what =
    hash === undefined ? `batch ${name}, with all its texts and scores` : 'this text and its scores';
  if (!(await isSure(`Erase ${what}?`, yes, terminal))) return 'failed';
  const { batches } = await openJobs(terminal);
  const { store } = batches;
  const erased = await (hash === undefined ? forgetBatch(name, batches) : forgetText(hash, batches));
  await eraseDeleted(terminal);
  // Only now is everything that was erased an old version.
  const oldVersions = await eraseOldVersions(
    hash === undefined ? { batch: name } : { textHash: hash },
    store,
  );
  return { json: { ...erased, oldVersions }, words: describe(erased, oldVersions) };
}) satisfies Run<'forget'>;

const STAYS =
  'not erased: messages on the queues (at most 14 days), results of jobs, the file that the texts came from, and the table’s backups, which can be restored for 35 days';

function describe(erased: Erased, oldVersions: number): readonly string[] {
  const { cacheRows, stagedChunks, parts, rows, batches } = erased;
  if (cacheRows + stagedChunks + parts + oldVersions === 0 && batches.length === 0)
    return ['there was nothing to erase', STAYS];
  const found = `cache rows: ${cacheRows}, staged chunks: ${stagedChunks}, parts: ${parts}, rows in them: ${rows}`;
  const old = oldVersions === 0 ? '' : `; old versions of objects: ${oldVersions}`;
  return [`erased: ${found}; batches: ${batches.join(', ') || 'none'}${old}`, STAYS];
}
