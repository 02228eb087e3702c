import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { parsePlace } from '../../lib/snapshot/keys.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import { readCheckpoint } from '../../lib/snapshot/run/checkpoint.ts';
import { type Source, sources } from '../../lib/snapshot/sources/sources.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { sampled } from '../scale.ts';

const RATE = 20;
const PART_SECONDS = 1;

type KilledCommand = {
  readonly source: Source;
  readonly sandbox: Sandbox;
  readonly settings: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Returns true when the process is to be killed. Called repeatedly after the first response. */
  readonly shouldKill: () => boolean;
};

/** A killed command. `requestsLost`: its requests with a response that must be sent again. */
type Cost = { readonly run: string; readonly requests: number; readonly requestsLost: number };

/** The options of `snapshot SOURCE` that select everything in the sandbox. */
function optionsOf(source: Source, sandbox: Sandbox): readonly string[] {
  const { fileSets, datasets, dataFiles } = sandbox.ids();
  switch (source) {
    case 'calculations':
      return [];
    case 'files':
      return fileSets.flatMap((id) => ['--fileset', id]);
    case 'cards':
      return datasets.flatMap((id) => ['--dataset', id]);
    case 'data-files':
      return dataFiles.flatMap((id) => ['--id', id]);
    default:
      return source satisfies never;
  }
}

/** Starts `snapshot SOURCE`, kills it with SIGKILL, and compares its requests with those that its checkpoint counts. */
async function killCommand({ source, sandbox, settings, folder, shouldKill }: KilledCommand): Promise<Cost> {
  const before = sandbox.counts().requests;
  const child = spawn(
    process.execPath,
    ['lib/cli/bin.js', 'snapshot', source, ...optionsOf(source, sandbox)],
    { stdio: 'ignore', env: { ...process.env, ...settings, SYNC_STORE: folder } },
  );
  const ended = once(child, 'exit');
  while ((sandbox.counts().requests === before || !shouldKill()) && child.exitCode === null) await delay(5);
  child.kill('SIGKILL');
  await ended;
  const requests = sandbox.counts().requests - before;
  // The place of a selection has a name that only the command knows.
  const [first = ''] = await readdir(join(folder, 'work'));
  const place = parsePlace(first) ?? source;
  const run = (await readdir(join(folder, 'work', place))).sort().at(-1) ?? '';
  const { checkpoint } = await readCheckpoint(createDirectoryStore(folder), place, run);
  return { run, requests, requestsLost: requests - checkpoint.calls.requests };
}

test.for(sampled(1, sources))(
  'a command that is killed while it takes %s loses at most the requests of one open part',
  { timeout: 120_000 },
  async (source) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'killed-'));
    await using sandbox = await startPlatform({ pageCap: 10, calculations: 2_000, filesPerSet: 30_000 });
    const settings = {
      PLATFORM_BASE_URL: sandbox.url,
      PLATFORM_TOKEN: sandbox.token,
      PLATFORM_RATE: String(RATE),
      SYNC_PART_SECONDS: String(PART_SECONDS),
    };
    const killed = await killCommand({
      source,
      sandbox,
      settings,
      folder: folder.path,
      shouldKill: () => sandbox.counts().requests > 3 * RATE,
    });
    const resumed = spawn(
      process.execPath,
      ['lib/cli/bin.js', 'snapshot', source, '--resume', killed.run, '--json'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...settings, PLATFORM_RATE: '1000', SYNC_STORE: folder.path },
      },
    );
    const manifest: Manifest = JSON.parse(await text(resumed.stdout));

    expect(killed.requests).toBeGreaterThan(2 * RATE);
    // The length of a part, the time to store it on a busy machine, and pages that were read ahead.
    expect(killed.requestsLost).toBeLessThan(2 * RATE);
    expect(manifest.publishable).toBe(true);
  },
);
