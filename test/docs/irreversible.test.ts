import { existsSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { expect, test } from 'vitest';

/** Every file that deletes from a store, a table or a queue, with what it deletes and why that is safe. */
const FILES: Readonly<Record<string, string>> = {
  'lib/jobs/work.ts': 'messages of jobs that have ended',
  'lib/jobs/queue/queue-limits.ts': 'a message that a copy replaces, which was sent before',
  'lib/jobs/redrive.ts':
    'a dead letter that was sent again; the stored message of a failed job whose row is DONE',
  'lib/jobs/texts/cache/score-cache.ts': 'the row of a text, by its token',
  'lib/jobs/texts/forget.ts':
    'rows and parts of what is forgotten; overwrites parts that hold other texts too',
  'lib/jobs/prune-jobs.ts': 'a staged response that no row names any more',
  'lib/jobs/texts/batch/score-chunk.ts':
    'parts of a chunk that lost against the row that was read after them',
  'lib/snapshot/run/take-run.ts': 'the open part that a stored checkpoint replaced',
  'lib/snapshot/history/prune.ts': 'a pruned run, and what is under work/ of a published or pruned one',
  'lib/snapshot/publish/publish.ts':
    'changes under a key of one publication, which lost the race for latest.json',
  'lib/snapshot/publish/publish-parts.ts': 'the record that a replaced run is tagged, before its tags change',
  'lib/tables/build/build-tables.ts':
    'that record; Parquet that no part of a manifest has, or of a removed run: it can be built again',
  'lib/model/open-model.ts':
    'models that neither latest.json of model/ nor the one before names: they can be computed again',
  'lib/jobs/expected-jobs.ts':
    'the mark of a job that was due, once its row is in the ledger, or its schedule is gone',
  'lib/cli/doctor/checks.ts': 'what doctor stored to try, under a key of its own',
  'lib/store/update-object.ts': 'nothing of its own: passes a delete on with a signal',
  'lib/store/directory.ts': 'nothing of its own: the delete of a store',
};

/** Matches deletions from a store, table or queue. An awaited call, or a call on such a name, is not one on a Map or Set. */
const DELETES = /\bawait\b[^;\n]*\.(delete|erase)\(|\b(store|table|queue)\??\.(delete|erase)\(/;

/** Excludes the reference platform, which deletes only its own data. */
const isOurs = (path: string) => !path.startsWith('lib/sandbox/');

const named = Object.keys(FILES);

test('each file that deletes from a store, a table or a queue is in the list of such files, with the reason', async () => {
  const deleting: string[] = [];
  for await (const path of glob('{lib,functions}/**/*.ts'))
    if (isOurs(path) && DELETES.test(readFileSync(path, 'utf8'))) deleting.push(path);

  expect(deleting.length).toBeGreaterThan(10);
  expect(deleting.filter((path) => !named.includes(path))).toEqual([]);
});

test('each file in the list of files that delete exists, and deletes', () => {
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
  expect(named.filter((path) => !/\.(delete|erase)\(/.test(readFileSync(path, 'utf8')))).toEqual([]);
});
