import { randomUUID } from 'node:crypto';
import type { Erased } from '../../jobs/texts/forget.ts';
import { defineCommand } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { inJson } from '../terminal/words.ts';

/** `forget`: erases a text, or a batch, from cache, staged chunks, scores and their Parquet. Does not need the platform. */
export const forget = defineCommand({
  does: 'Erase one text, or a whole batch: texts, scores and cache rows.',
  options: [
    ['--text-hash <hash>', 'the SHA-256 of the text in hex, as recorded in the parts'],
    ['--batch <name>', 'the batch, with all its texts'],
    ['--json', 'print what was erased as one JSON value'],
  ],
  examples: [
    'forget --batch may',
    'forget --text-hash 0d57f29f8eef9365dbfd4e45528098967ed655efa0ce95494945350bfafbabb0',
  ],
  run: (_, flags, terminal) => forgetWhat(flags, terminal),
});

type ForgetFlags = { readonly textHash?: string; readonly batch?: string; readonly json?: true };

async function forgetWhat({ textHash, batch, json }: ForgetFlags, terminal: Terminal): Promise<number> {
  if ((textHash === undefined) === (batch === undefined))
    throw new UsageError(
      `--text-hash and --batch: expected exactly one of them, got ${batch === undefined ? 'none' : 'both'}`,
    );
  const { checkedBatch, checkedHash } = await import('../texts/score-names.ts');
  const hash = textHash === undefined ? undefined : checkedHash(textHash);
  const name = checkedBatch(batch ?? 'none');
  const { openScoreTable } = await import('../options/from-settings.ts');
  const { forgetBatch, forgetText } = await import('../../jobs/texts/forget.ts');
  const { eraseOldVersions } = await import('../../jobs/texts/erase-old-versions.ts');
  const store = await openStoreOf(terminal);
  const { table, erase, now } = await openScoreTable('forget', terminal);
  const storage = { store, table, newToken: randomUUID, now };
  const erased = await (hash === undefined ? forgetBatch(name, storage) : forgetText(hash, storage));
  await erase();
  const { forgetBatchParquet, forgetChangedParquet } = await import('../../tables/make/make-scores.ts');
  await (hash === undefined ? forgetBatchParquet(name, store) : forgetChangedParquet(store));
  // Only now is everything that was erased an old version.
  const oldVersions = await eraseOldVersions(
    hash === undefined ? { batch: name } : { textHash: hash },
    store,
  );
  if (json) terminal.out(inJson({ ...erased, oldVersions }));
  else for (const line of describe(erased, oldVersions)) terminal.out(shown(line));
  return exitCodes.done;
}

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
