import { batchNames, type Erased, forget, isBatchKnown } from '../../jobs/texts/index.ts';
import type { Run } from '../command.ts';
import { oneGiven, unknownError } from '../errors/usage-error.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { isSure, refuseUnasked } from '../terminal/questions.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Erases a text, or a batch, from the cache, staged chunks and scores. Does not need the platform. */
export default (async (_, { textHash, batch, dryRun, yes }, terminal) => {
  oneGiven({ '--text-hash': textHash, '--batch': batch }, 'needed');
  const { environment } = terminal;
  const target = batch === undefined ? { textHash: textHash ?? '' } : { batch };
  if (!dryRun) refuseUnasked(yes, terminal);
  if (batch !== undefined) await refuseUnknown(batch, terminal);
  if (dryRun) {
    const { batches } = await openJobs(terminal);
    const { oldVersions, ...found } = await forget(target, batches, { environment, isDryRun: true });
    const words = describe(found, oldVersions, 'would be erased');
    return { json: { dryRun: true, ...found, oldVersions }, words };
  }
  const what =
    batch === undefined ? 'this text and its scores' : `batch ${batch}, with all its texts and scores`;
  if (!(await isSure(`Erase ${what}?`, yes, terminal))) return 'failed';
  const { batches } = await openJobs(terminal);
  const { oldVersions, ...erased } = await forget(target, batches, { environment });
  return { json: { ...erased, oldVersions }, words: describe(erased, oldVersions) };
}) satisfies Run<'forget'>;

/** Throws if the batch does not exist, since its name is most likely mistyped. */
async function refuseUnknown(batch: string, terminal: Terminal): Promise<void> {
  const { batches } = await openJobs(terminal);
  if (await isBatchKnown(batch, batches)) return;
  throw unknownError('batch', batch, 'there was nothing to erase', await batchNames(batches.store));
}

const NOT_ERASED =
  'not erased: messages on the queues (kept for at most 14 days; run forget again after their jobs have ended), stored results of jobs, the file that the texts came from, and the table’s backups, which can be restored for 35 days';

function describe(erased: Erased, oldVersions: number, done = 'erased'): readonly string[] {
  const { cacheRows, stagedChunks, parts, rows, batches } = erased;
  if (cacheRows + stagedChunks + parts + oldVersions === 0 && batches.length === 0)
    return ['there was nothing to erase', NOT_ERASED];
  const found = `cache rows: ${cacheRows}, staged chunks: ${stagedChunks}, parts: ${parts}, rows in them: ${rows}`;
  const old = oldVersions === 0 ? '' : `; old versions of objects: ${oldVersions}`;
  return [`${done}: ${found}; batches: ${batches.join(', ') || 'none'}${old}`, NOT_ERASED];
}
