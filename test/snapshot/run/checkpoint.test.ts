import { expect, test } from 'vitest';
import { beginRun, scanOfRun } from '../../../lib/snapshot/run/begin-run.ts';
import {
  type Checkpoint,
  readCheckpoint,
  readParts,
  recordPart,
  saveCheckpoint,
} from '../../../lib/snapshot/run/checkpoint.ts';
import { fakeCall } from '../../platform/fake-call.ts';
import { storeOfEach } from '../../store/store-of-each.ts';

const RUN = '20261121T091500Z-3fa9c1';

const store = storeOfEach();

const checkpointOf = (differences: Partial<Checkpoint> = {}): Checkpoint => ({
  version: 1,
  platform: 'acme.example.com',
  source: 'files.recent',
  run: RUN,
  startedAt: '2026-11-21T09:15:00.000Z',
  selection: { filesets: ['0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11'] },
  begunAfter: null,
  compression: 'gzip',
  position: null,
  outcome: null,
  parts: 0,
  lastPart: null,
  open: null,
  missing: [],
  records: 0,
  fields: {},
  calls: { requests: 0, retries: 0, throttled: 0, waitedMs: 0 },
  ...differences,
});

const partOf = (index: number) => ({
  key: `work/files.recent/${RUN}/part-0000${index}-1f2e3d4c5b6a.ndjson.gz`,
  records: 10,
  bytes: 100,
  sha256: '1f2e3d4c5b6a',
  firstKey: 'a',
  lastKey: 'b',
});

test('a checkpoint is read as it was saved, with an etag that lets it advance', async () => {
  const begun = checkpointOf();
  const further = checkpointOf({ position: { next: 'cursor' }, records: 10, fields: { id: ['string'] } });

  const first = await saveCheckpoint(store, begun, undefined);
  const read = await readCheckpoint(store, 'files.recent', RUN);
  const second = await saveCheckpoint(store, further, read.etag);

  expect(read).toEqual({ checkpoint: begun, etag: first });
  expect(await readCheckpoint(store, 'files.recent', RUN)).toEqual({ checkpoint: further, etag: second });
});

test.each([
  ['another run', { run: '20261121T091500Z-ffffff' }, '20261121T091500Z-ffffff of files.recent'],
  ['another place', { source: 'cards' }, `${RUN} of cards`],
] as const)('a planted checkpoint of %s is refused', async (_, differences, got) => {
  const key = `work/files.recent/${RUN}/_checkpoint.json`;
  await store.put(key, Buffer.from(JSON.stringify(checkpointOf(differences))));

  await expect(readCheckpoint(store, 'files.recent', RUN)).rejects.toThrow(
    `${key}: expected the checkpoint of run ${RUN} of files.recent, got the checkpoint of ${got}`,
  );
});

test('a run that already exists is not started again', async () => {
  await saveCheckpoint(store, checkpointOf({ records: 10 }), undefined);

  const again = saveCheckpoint(store, checkpointOf(), undefined);

  await expect(again).rejects.toMatchObject({ name: 'CheckpointConflictError' });
});

test('the part entries lead from the last back to the first, and are returned in order', async () => {
  const first = await recordPart(store, partOf(0), null);
  const second = await recordPart(store, partOf(1), first);
  const third = await recordPart(store, partOf(2), second);

  const parts = await readParts(store, third);

  expect(parts).toEqual([partOf(0), partOf(1), partOf(2)]);
  expect(third).toBe(`${partOf(2).key}.json`);
});

test('a missing part entry is reported', async () => {
  const first = await recordPart(store, partOf(0), null);
  const second = await recordPart(store, partOf(1), first);
  await store.delete(first);

  await expect(readParts(store, second)).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: `${first} in memory: expected a part entry, got nothing`,
  });
});

test('a run whose ids are missing is not resumed', async () => {
  const options = { platform: 'acme.example.com', compression: 'gzip', now: Date.now, random: Math.random };
  const { checkpoint } = await beginRun(
    { source: 'data-files', ids: ['2', '1'] },
    { store, ...options, compression: 'gzip' },
  );
  const key = `work/data-files/${checkpoint.run}/_ids.json`;
  await store.delete(key);

  const opened = scanOfRun(checkpoint, { store, call: fakeCall([]).call, sleep: async () => undefined });

  await expect(opened).rejects.toMatchObject({
    name: 'StoredObjectError',
    message: `${key} in memory: expected the run's ids, got nothing`,
  });
});
