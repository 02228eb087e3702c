import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';
import { readCheckpoint } from '../../lib/snapshot/run/checkpoint.ts';
import type { Source } from '../../lib/snapshot/sources/sources.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';

type KilledCommand = {
  readonly source: Source;
  readonly sandbox: Sandbox;
  readonly settings: Readonly<Record<string, string>>;
  /** The directory store. */
  readonly folder: string;
  /** True once the process is to be killed; asked after the platform's first response, again and again. */
  readonly isTime: () => boolean;
};

/** What a kill cost: requests that the platform had responded to and that must be sent again. */
type Cost = { readonly run: string; readonly requests: number; readonly requestsLost: number };

/** The options of `snapshot SOURCE` for everything that a sandbox has of it. */
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

/** Starts `snapshot SOURCE`, kills it with SIGKILL, and compares what it had requested with what it had made durable. */
export async function killCommand({
  source,
  sandbox,
  settings,
  folder,
  isTime,
}: KilledCommand): Promise<Cost> {
  const before = sandbox.counts().requests;
  const child = spawn(
    process.execPath,
    ['lib/cli/bin.js', 'snapshot', source, ...optionsOf(source, sandbox)],
    {
      stdio: 'ignore',
      env: { ...process.env, ...settings, SYNC_STORE: folder },
    },
  );
  const ended = once(child, 'exit');
  while ((sandbox.counts().requests === before || !isTime()) && child.exitCode === null) await delay(5);
  child.kill('SIGKILL');
  await ended;
  const requests = sandbox.counts().requests - before;
  const run = (await readdir(join(folder, 'work', source))).sort().at(-1) ?? '';
  const { checkpoint } = await readCheckpoint(createDirectoryStore(folder), source, run);
  return { run, requests, requestsLost: requests - checkpoint.calls.requests };
}
