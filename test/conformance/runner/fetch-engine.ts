import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { sleep } from '../../../lib/base/async.ts';
import type { Engine, Fetching } from '../engines/engine.ts';
import type { Guard } from './guard.ts';
import { endOfLog, startProgram } from './programs.ts';

export type FetchOptions = {
  /** The folder that holds all engines. */
  readonly cache: string;
  /** Stops the fetch, which then throws the signal's reason. */
  readonly signal: AbortSignal;
  readonly guard: Guard;
};

/**
 * Returns the folder of an engine in the cache, and fetches the engine if it is not there yet. A killed fetch leaves
 * only downloads, which the next one uses; of two concurrent fetches, one waits. Throws if it cannot be fetched.
 */
export async function fetchEngine(engine: Engine, options: FetchOptions): Promise<string> {
  const { cache, guard, signal } = options;
  const id = `${engine.name}-${engine.version}`.replaceAll(/[^\w.-]/g, '-').toLowerCase();
  const [fetched, downloads] = [join(cache, id), join(cache, 'downloads', id)];
  if (existsSync(fetched)) return fetched;
  await mkdir(downloads, { recursive: true });
  const unlock = await lockFolder(fetched, signal);
  try {
    if (existsSync(fetched)) return fetched;
    console.log(`fetching ${engine.name} ${engine.version} into ${cache}`);
    // All tries use one name, so that the next one removes the files of one that was killed.
    const folder = `${fetched}.partial`;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    guard.watch({ folder });
    try {
      await engine.fetch({ folder, downloads, run: runner(downloads, options) });
      await rename(folder, fetched);
    } finally {
      await rm(folder, { recursive: true, force: true });
      guard.release({ folder });
    }
    await rm(downloads, { recursive: true, force: true });
    return fetched;
  } finally {
    await unlock();
  }
}

/** Creates a function that runs a program with its output in a file, and throws with the last lines if it fails. */
function runner(downloads: string, { signal, guard }: FetchOptions): Fetching['run'] {
  return async (command, options = {}) => {
    const log = join(downloads, 'fetch.log');
    await using program = startProgram(command, { ...options, log }, guard);
    const ended = await untilAborted(program.ended, signal).catch((error) => {
      throw error.code === 'ENOENT' ? new Error(`${command[0]} is not installed`, { cause: error }) : error;
    });
    if (ended !== 0)
      throw new Error(`${command[0]} ended with ${ended}: ${endOfLog(await readFile(log, 'utf8'))}`);
  };
}

/** Resolves like the promise, unless the signal is aborted first. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

const RETRY_MS = 500;

async function lockFolder(folder: string, signal: AbortSignal): Promise<() => Promise<void>> {
  for (;;) {
    try {
      return await lock(folder, { realpath: false });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error;
    }
    await sleep(RETRY_MS, signal);
  }
}
