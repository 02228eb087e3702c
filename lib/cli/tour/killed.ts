import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sleep } from '../../base/index.ts';
import { readCheckpoint } from '../../snapshot/run/checkpoint.ts';
import { openStore } from '../../store/index.ts';
import { exitCodes, type Terminal } from '../terminal/terminal.ts';

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

/** How long it may take on a busy machine until both workers wait for a response. */
const MOST_LOOKS = 60_000 / LOOK_EVERY_MS;

/**
 * Drains the queue by two processes that are started together, and kills one (`kill -9`) while each waits for the response
 * of a job that it has sent, as `sent` counts them. Throws if that never is so, or the other cannot work.
 */
export async function drainByTwo(
  { environment, signal }: Terminal,
  sent: () => Promise<number>,
): Promise<void> {
  const start = () =>
    startCommand(['work', '--drain', '--concurrency', '1'], {
      environment: { ...environment, LOG_LEVEL: 'error' },
      signal,
    });
  const [killed, other] = [start(), start()];
  const bothEnded = Promise.all([once(killed, 'exit'), once(other, 'exit')]);
  // Whoever stops the tour ends both, before anybody waits for them.
  bothEnded.catch(() => undefined);
  const said: string[] = [];
  createInterface(other.stderr).on('line', (line) => said.push(line));
  killed.stderr.resume();
  for (let looks = 1; (await sent()) < 2; looks += 1) {
    if (looks > MOST_LOOKS || killed.exitCode !== null)
      throw new Error('expected a worker to kill while both wait for a response');
    await sleep(LOOK_EVERY_MS, signal);
  }
  killed.kill('SIGKILL');
  const [, [code]] = await bothEnded;
  // What the killed one had sent ends as unknown.
  if (code !== exitCodes.done && code !== exitCodes.incomplete)
    throw new Error(`expected the other worker to drain the queue, got ${code}:\n${said.join('\n')}`);
}

/** The command as a process of its own, as people start it. */
const COMMAND = fileURLToPath(new URL('../bin.js', import.meta.url));

/** Starts a command whose standard error is read. Whoever stops the tour kills it. */
const startCommand = (
  argv: readonly string[],
  { environment, signal }: Pick<Terminal, 'environment' | 'signal'>,
) =>
  spawn(process.execPath, [COMMAND, ...argv], {
    env: { ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
