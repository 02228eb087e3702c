import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { readCheckpoint } from '../../snapshot/run/checkpoint.ts';
import { openStore } from '../../store/open.ts';
import { sleep } from '../../time/sleep.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { startCommand } from './command-process.ts';

/** Slow enough to be killed in the middle, with a part of the run stored each second. */
const SLOWLY = { PLATFORM_RATE: '2', SYNC_PART_SECONDS: '1' } as const;

const LOOK_EVERY_MS = 20;

/**
 * Starts `snapshot calculations` in a process of its own and kills it (`kill -9`) as soon as a part of the run is stored.
 * Returns how many records were. Throws if it ends by itself.
 */
export async function killRun({ environment, err, signal }: Terminal, location: string): Promise<number> {
  const child = startCommand(['snapshot', 'calculations'], {
    environment: { ...environment, ...SLOWLY },
    signal,
  });
  const ended = once(child, 'exit');
  // Whoever stops the tour ends it, before anybody waits for that.
  ended.catch(() => undefined);
  const [line] = (await Promise.race([once(createInterface(child.stderr), 'line'), ended])) as unknown[];
  const [, run = ''] = /: run (\S+)$/.exec(String(line)) ?? [];
  err(String(line));
  const store = await openStore(location);
  let records = 0;
  while (records === 0) {
    if (child.exitCode !== null || run === '') throw new Error(`expected a run to kill, got ${String(line)}`);
    await sleep(LOOK_EVERY_MS, signal);
    ({ records } = (await readCheckpoint(store, 'calculations', run)).checkpoint);
  }
  child.kill('SIGKILL');
  await ended;
  return records;
}
