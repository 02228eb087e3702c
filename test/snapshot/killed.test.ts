import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type LocalAws, startAws } from '../../lib/sandbox/aws/services/start-aws.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { readLatest, readManifest } from '../../lib/snapshot/manifest.ts';
import { openStore } from '../../lib/store/open.ts';
import { scaled, scaledTimeout } from '../scale.ts';

const STORE = 's3://killed/runs';
const RECORDS = scaled(2_500, 20_000);
const KILLS = scaled(4, 20);

/** Runs a snapshot process, killed with SIGKILL after so long; answers its run, and whether it came to its end. */
async function runAndKill(sandbox: Sandbox, aws: LocalAws, afterMs: number, run?: string) {
  const argv = [
    'test/snapshot/snapshot-process.ts',
    sandbox.url,
    sandbox.token,
    STORE,
    ...(run === undefined ? [] : [run]),
  ];
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...aws.settings },
  });
  const lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    timer ??= setTimeout(() => child.kill('SIGKILL'), afterMs);
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  clearTimeout(timer);
  return { run: lines[0] ?? run, ended: lines.includes('published') };
}

test(
  'a run that is killed again and again at any moment goes on, and holds what an undisturbed one holds',
  async () => {
    await using sandbox = await startPlatform({ calculations: RECORDS, latencyMs: 10 });
    await using aws = await startAws({ buckets: ['killed'] });
    let run: string | undefined;
    let kills = 0;

    for (let ended = false; !ended && kills < 200; kills += 1) {
      // Ever different moments: from the first request to the middle of a part.
      const result = await runAndKill(sandbox, aws, 70 + ((kills * 67) % 200), run);
      ({ run } = result);
      ended = result.ended;
    }

    const store = await openStore(STORE, { s3: aws.settings });
    const latest = await readLatest(store, 'calculations');
    const manifest = await readManifest(store, latest?.manifest ?? '');
    const bodies = await Promise.all(
      manifest.parts.map(async ({ key }) => (await store.get(key))?.body ?? Buffer.alloc(0)),
    );
    const lines = bodies.flatMap((body) => gunzipSync(body).toString().trimEnd().split('\n'));
    expect(kills).toBeGreaterThanOrEqual(KILLS);
    expect(manifest).toMatchObject({ run, records: RECORDS, consistency: 'proved' });
    expect(lines).toEqual([...sandbox.calculations()]);
  },
  scaledTimeout(240_000),
);
