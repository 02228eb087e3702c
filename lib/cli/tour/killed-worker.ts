import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { sleep } from '../../time/sleep.ts';
import { exitCodes, type Terminal } from '../terminal/terminal.ts';
import { startCommand } from './command-process.ts';

/** How long a job is under way when its worker is killed: its call has left by then, and lasts longer. */
export const UNDER_WAY_MS = 200;

/** The worker is killed in the job after these. */
const JOBS_BEFORE = 2;

/**
 * Drains the queue by two processes that are started together, and kills one (`kill -9`) in the middle of its third job.
 * Throws if that one ends by itself, or the other cannot work.
 */
export async function drainByTwo({ environment, signal }: Terminal): Promise<void> {
  const start = (logLevel: string) =>
    startCommand(['work', '--drain', '--concurrency', '1'], {
      environment: { ...environment, LOG_LEVEL: logLevel },
      signal,
    });
  const [killed, other] = [start('info'), start('error')];
  const bothEnded = Promise.all([once(killed, 'exit'), once(other, 'exit')]);
  // Whoever stops the tour ends both, before anybody waits for them.
  bothEnded.catch(() => undefined);
  const said: string[] = [];
  createInterface(other.stderr).on('line', (line) => said.push(line));
  let ended = 0;
  for await (const line of createInterface(killed.stderr)) {
    if (line.includes('"job ended"')) ended += 1;
    if (ended === JOBS_BEFORE) break;
  }
  if (ended < JOBS_BEFORE) throw new Error('expected a worker to kill, but it ended by itself');
  await sleep(UNDER_WAY_MS, signal);
  killed.kill('SIGKILL');
  const [, [code]] = await bothEnded;
  // What the killed one had sent ends as unknown.
  if (code !== exitCodes.done && code !== exitCodes.incomplete)
    throw new Error(`expected the other worker to drain the queue, got ${code}:\n${said.join('\n')}`);
}
