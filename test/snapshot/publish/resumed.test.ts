import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { endsPart } from '../../../lib/snapshot/changes/key-hash.ts';
import { type Run, workFolder } from '../../../lib/snapshot/keys.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import { createPartWriter } from '../../../lib/snapshot/run/part-writer.ts';
import type { Source } from '../../../lib/snapshot/sources/sources.ts';
import type { Store } from '../../../lib/store/store.ts';
import { sampled, scaledTimeout } from '../../scale.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { killedAt } from '../../tables/build/killed-at.ts';
import { batchOfLines } from '../batches.ts';
import { monday, tuesday } from '../changes/publish-lines.ts';
import { finishedManifest } from '../published-manifest.ts';

const LINE_BYTES = 2_000;
const RANGE = 300_000;

/** The ids of 3,000 records, which fill several frames, and of the records that end a published part. */
function findIds(source: Source): readonly number[] {
  const keyOf = (id: number) => (source === 'files' ? `s/${id}` : `${id}`);
  const ids = Array.from({ length: RANGE }, (_, id) => id);
  return ids.filter((id) => id % 100 === 0 || endsPart(keyOf(id), LINE_BYTES));
}

// Computed once, since it hashes hundreds of thousands of keys.
const idsOf = { calculations: findIds('calculations'), files: findIds('files') };

type Taken = keyof typeof idsOf;

/** The records of a run: calculations in key order, files in none. One in seven differs between days. */
function recordsOf(source: Taken, day: number): readonly { readonly key: string; readonly line: string }[] {
  const records = idsOf[source].map((id) => {
    const name = `${id % 7 === 0 ? day : 0} ${`${id} `.repeat(400)}`.slice(0, 1_900);
    const line =
      source === 'files'
        ? `{"_filesetId":"s","id":"${id}","downloadUrl":"${day}","name":"${name}`
        : `{"id":${id},"name":"${name}`;
    return {
      id,
      key: source === 'files' ? `s/${id}` : `${id}`,
      line: `${line.padEnd(LINE_BYTES - 3, '.')}"}`,
    };
  });
  return source === 'files' ? records.toSorted((a, b) => (a.id % 977) - (b.id % 977)) : records;
}

/** Writes a run under `work/` that is stopped and resumed after every `partRecords` records. */
async function takeRun(store: Store, source: Taken, run: Run, day: number, partRecords: number) {
  const open = () => createPartWriter({ store, folder: workFolder(source, run), compression: 'gzip' });
  let writer = open();
  const records = recordsOf(source, day);
  const parts: Part[] = [];
  for (let from = 0; from < records.length; from += partRecords) {
    const some = records.slice(from, from + partRecords);
    await writer.write(batchOfLines(some));
    if (from + partRecords >= records.length) await writer.end();
    while (await writer.storeEnded(parts.length, async (part) => void parts.push(part)));
    const left = await writer.storeOpen();
    writer = open();
    if (left !== null) await writer.resume(left);
  }
  return finishedManifest(run, { source, parts });
}

/**
 * Every published object: its key with a hash or the text. Random tokens are removed from keys and texts, and so is a
 * space at the end of `latest.json`, which is there if it was stored again so that a killed publisher cannot move it.
 */
async function publishedBytes(store: Store): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { key } of store.list('')) {
    if (key.startsWith('work/')) continue;
    const body = (await store.get(key))?.body ?? Buffer.alloc(0);
    const printed = key.endsWith('.json')
      ? withoutToken(body.toString())
      : createHash('sha256').update(body).digest('hex');
    found.set(withoutToken(key), printed);
  }
  return found;
}

const withoutToken = (text: string): string =>
  text
    .replace(/_manifest-[0-9a-f]{8}\.json/, '_manifest.json')
    .replace(/-[0-9a-f]{8}\/part\.ndjson/, '/part.ndjson')
    .trimEnd();

/** Monday's published run, and Tuesday's unpublished one with a part after every `partRecords` records. */
async function twoRuns(source: Taken, partRecords: number) {
  const store = createMemoryStore();
  const name = `${source} in parts of ${partRecords}`;
  const taking = prepared.get(name) ?? takeRuns(source, partRecords);
  prepared.set(name, taking);
  const { objects, finished } = await taking;
  for (const [key, body] of objects) store.objects.set(key, body);
  return { store, source, run: tuesday, finished, force: true };
}

// The runs are taken once, since the tests only publish them.
const prepared = new Map<string, ReturnType<typeof takeRuns>>();

async function takeRuns(source: Taken, partRecords: number) {
  const store = createMemoryStore();
  const before = await takeRun(store, source, monday, 1, 1_100);
  await publishRun({ store, source, run: monday, finished: before, force: true });
  const finished = await takeRun(store, source, tuesday, 2, partRecords);
  return { objects: new Map(store.objects), finished };
}

describe.each(['calculations', 'files'] as const)('%s', (source) => {
  test(
    'a publication that is killed at any operation and resumed publishes the same bytes',
    async () => {
      const undisturbed = await twoRuns(source, 700);
      await publishRun(undisturbed);
      const expected = await publishedBytes(undisturbed.store);
      const again = await twoRuns(source, 700);
      const counted = killedAt(again.store, Number.POSITIVE_INFINITY, 'before');
      await publishRun({ ...again, store: counted.killed });

      const operations = Array.from({ length: counted.operations() }, (_, index) => index + 1);
      for (const at of sampled(1, operations)) {
        const stopped = await twoRuns(source, 700);
        const when = at % 2 === 0 ? 'before' : 'after';
        const dying = publishRun({ ...stopped, store: killedAt(stopped.store, at, when).killed });
        await expect(dying, `operation ${at}`).rejects.toThrow('killed');

        const { kind } = await publishRun(stopped);

        expect(kind).toBe('published');
        expect(await publishedBytes(stopped.store), `operation ${at}`).toEqual(expected);
      }
      expect(counted.operations()).toBeGreaterThan(10);
    },
    scaledTimeout(600_000),
  );

  test('the published parts are the same, however often the scan was stopped', async () => {
    const partsAt = async (partRecords: number) => {
      const run = await twoRuns(source, partRecords);
      const { manifest } = await publishRun(run);
      return manifest.parts;
    };

    const [once, often, always] = [await partsAt(10_000), await partsAt(450), await partsAt(60)];

    expect(often).toEqual(once);
    expect(always).toEqual(once);
    expect(once.length).toBeGreaterThan(3);
    expect(once.reduce((sum, { records }) => sum + records, 0)).toBe(idsOf[source].length);
  });
});
