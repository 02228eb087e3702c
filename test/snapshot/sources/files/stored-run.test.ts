import { expect, test } from 'vitest';
import type { PlatformOptions } from '../../../../lib/sandbox/platform/options.ts';
import { startPlatform } from '../../../../lib/sandbox/platform/start-platform.ts';
import { runKeys } from '../../../../lib/snapshot/changes/line-members.ts';
import { readCheckpoint } from '../../../../lib/snapshot/run/checkpoint.ts';
import { publishTaken, type Saved } from '../../../../lib/snapshot/run/take-run.ts';
import { filesPosition, filesScan } from '../../../../lib/snapshot/sources/files/scan.ts';
import { resumable } from '../../../../lib/snapshot/sources/source-definition.ts';
import { scaled, scaledTimeout } from '../../../scale.ts';
import { storeOfEach } from '../../../store/store-of-each.ts';
import { beginIn, sliceIn } from '../../run/begin-in.ts';
import { callOf } from '../../sandbox-call.ts';

const store = storeOfEach();

const FILES = 300;

/** Takes and publishes a run of three FileSets that is stopped after every few pages. */
async function takenInPieces(seed: number, flaws: Pick<PlatformOptions, 'anomalies' | 'plannedAnomalies'>) {
  await using sandbox = await startPlatform({
    ...{ seed, calculations: 0, datasets: 1, cards: 0, dataFiles: 0, fileSets: 3, filesPerSet: FILES },
    ...flaws,
  });
  const filesetIds = sandbox.ids().fileSets;
  const scan = resumable(
    filesScan({ call: callOf(sandbox), filesetIds, search: {}, limit: 40 }),
    filesPosition,
  );
  const options = { store, platform: 'acme.example.com', force: false, now: Date.now, random: Math.random };
  let saved: Saved = await beginIn(store, { source: 'files' });
  let checkpointBytes = 0;
  for (let slice = 0; saved.checkpoint.outcome === null; slice += 1) {
    let steps = 0;
    const isOver = () => ++steps > (seed + slice) % 4;
    await sliceIn(store, saved, { scan, isOver });
    saved = await readCheckpoint(store, 'files', saved.checkpoint.run);
    const stored = await store.get(`work/files/${saved.checkpoint.run}/_checkpoint.json`);
    checkpointBytes = Math.max(checkpointBytes, stored?.body.byteLength ?? 0);
  }
  const publication = await publishTaken(saved.checkpoint, options);
  const { parts } = publication.manifest;
  const keys = (await Array.fromAsync(runKeys({ store, source: 'files', run: { parts } }))).flat();
  const truth = filesetIds.flatMap((id) =>
    [...sandbox.files(id)].map((row): string => `${id}/${JSON.parse(row).id}`),
  );
  return { publication, keys, truth, checkpointBytes };
}

test('rereading a FileSet keeps the files of the FileSets before it', async () => {
  // Each FileSet takes eight pages. A file vanishes from a response in the second FileSet and in the third.
  const { publication, keys, truth } = await takenInPieces(1, {
    plannedAnomalies: { 11: 'vanish', 27: 'vanish' },
  });

  expect(publication).toMatchObject({ kind: 'published', manifest: { consistency: 'proved' } });
  expect(keys.toSorted()).toEqual(truth.toSorted());
});

test(
  'a run over incomplete lists, stopped repeatedly, is proved only if it has every file, each once',
  async () => {
    const ends = { proved: 0, 'best-effort': 0 };
    for (let seed = 1; seed <= scaled(3, 40); seed += 1) {
      const { publication, keys, truth, checkpointBytes } = await takenInPieces(seed, { anomalies: 0.04 });
      const { kind, manifest } = publication;

      ends[manifest.consistency] += 1;
      expect(new Set(keys).size).toBe(keys.length);
      expect(manifest.records).toBe(keys.length);
      if (manifest.consistency === 'proved') expect(keys.toSorted()).toEqual(truth.toSorted());
      expect(kind).toBe(manifest.consistency === 'best-effort' ? 'refused' : 'published');
      expect(checkpointBytes).toBeLessThan(10_000);
      store.objects.clear();
    }

    expect(ends.proved).toBeGreaterThan(0);
  },
  scaledTimeout(240_000),
);
