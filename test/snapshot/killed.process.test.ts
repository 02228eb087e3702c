import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { readLastPublication } from '../../lib/snapshot/publish/publish-parts.ts';
import { openStore } from '../../lib/store/open.ts';
import { type LocalAws, startAws } from '../local-aws/services/start-aws.ts';
import { scaled, scaledTimeout } from '../scale.ts';

const STORE = 's3://killed/runs';
const RECORDS = scaled(800, 20_000);
const KILLS = scaled(2, 20);

type Run = { readonly sandbox: Sandbox; readonly aws: LocalAws; readonly run: string | undefined };

/** Runs a snapshot process and kills it with SIGKILL. Returns its run, and whether it had finished. */
async function runAndKill({ sandbox, aws, run }: Run, kills: number) {
  const argv = [
    'test/snapshot/snapshot-process.ts',
    sandbox.url,
    sandbox.token,
    STORE,
    ...(run === undefined ? [] : [run]),
  ];
  const before = sandbox.counts().requests;
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...aws.settings },
  });
  const output = text(child.stdout);
  const ended = once(child, 'exit');
  // The moment of the kill varies: after a number of requests or, one time in three, some time after the first request.
  const isTimed = kills % 3 === 2;
  const enough = before + (isTimed ? 1 : 1 + ((kills * 7) % 12));
  while (child.exitCode === null && sandbox.counts().requests < enough) await delay(2);
  if (isTimed) await Promise.race([ended, delay(70 + ((kills * 67) % 200))]);
  child.kill('SIGKILL');
  await ended;
  const [name, ...rest] = (await output).split('\n');
  return { run: name || run, ended: rest.includes('published') };
}

test(
  'a run that is killed repeatedly at any moment is resumed, and ends up the same as an undisturbed one',
  async () => {
    await using sandbox = await startPlatform({ calculations: RECORDS, latencyMs: 10 });
    await using aws = await startAws({ buckets: ['killed'] });
    let run: string | undefined;
    let kills = 0;

    for (let ended = false; !ended && kills < 200; kills += 1) {
      const result = await runAndKill({ sandbox, aws, run }, kills);
      ({ run } = result);
      ended = result.ended;
    }

    const store = await openStore(STORE, { s3: aws.settings });
    const { manifest } = await readLastPublication(store, 'calculations');
    if (manifest === undefined) throw new Error('expected a published run, got none');
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
