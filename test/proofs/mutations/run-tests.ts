import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, environmentOf, type Journal, journalAt, type ProcessSettings } from './changes.ts';

const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--root', '.'];
const CONFIG = ['--config', 'test/proofs/mutations/vitest.config.ts'];

/** How often to check whether a run hangs, in milliseconds. */
const LOOK_MS = 500;

/** Maximum number of characters of a process's output that an error shows. */
const SHOWN = 4_000;

/**
 * Runs the tests of a group with each change that `settings` list, and returns the events. A process that hangs is
 * killed, and a new one runs the remaining changes. Throws if a test fails without a change.
 */
export async function runTests(settings: ProcessSettings): Promise<readonly Event[]> {
  const journal = journalAt(settings.journalFile);
  while (!(await runProcess(settings, journal)));
  return journal.read();
}

/** Returns true if the process ended, false if it hung and was killed. */
async function runProcess(settings: ProcessSettings, journal: Journal): Promise<boolean> {
  const env = { ...process.env, ...environmentOf(settings) };
  const child = spawn(process.execPath, [...VITEST, ...CONFIG], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new AbortController();
  let output = '';
  const add = (chunk: Buffer) => {
    output = `${output}${chunk}`.slice(-SHOWN);
  };
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  const hung = killIfItHangs(child, journal, ended.signal);
  const [code] = await once(child, 'close');
  ended.abort();
  process.removeListener('exit', kill);
  if (await hung) return false;
  if (code !== 0) throw new Error(`expected every test to pass without a change, got:\n${output}`);
  return true;
}

async function killIfItHangs(child: ChildProcess, journal: Journal, ended: AbortSignal): Promise<boolean> {
  let [seen, sinceMs] = [0, 0];
  while (!ended.aborted) {
    const events = journal.read();
    const last = events.at(-1);
    if (events.length > seen) [seen, sinceMs] = [events.length, performance.now()];
    if (last?.kind === 'begins' && performance.now() - sinceMs > last.limitMs) return child.kill('SIGKILL');
    await sleep(LOOK_MS);
  }
  return false;
}
