import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '../../../lib/base/async.ts';
import type { Engines } from '../../base/aws/engines.ts';
import type { Engine, Launch } from '../engines/engine.ts';
import type { Guard } from './guard.ts';
import { endOfLog, type Program, startProgram } from './programs.ts';

export type StartOptions = { readonly fetched: string; readonly signal: AbortSignal; readonly guard: Guard };

export type RunningEngine = AsyncDisposable & { readonly engines: Engines };

const TRIES = 3;

/**
 * Starts an engine on a free port of 127.0.0.1, in a temporary folder, and waits until it responds. Disposing ends the
 * engine and removes the folder. Throws with the end of its output if it does not start.
 */
export async function startEngine(engine: Engine, options: StartOptions): Promise<RunningEngine> {
  const { fetched, signal, guard } = options;
  for (let attempt = 1; ; attempt += 1) {
    await using started = new AsyncDisposableStack();
    const scratch = await mkdtemp(join(tmpdir(), 'platform-sync-conformance-'));
    guard.watch({ folder: scratch });
    started.defer(async () => {
      await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
      guard.release({ folder: scratch });
    });
    const port = await freePort();
    const launch = await engine.start({ fetched, scratch, port });
    if (launch.command !== undefined) {
      const log = join(scratch, 'output.log');
      const { environment = {}, respondsAt = `http://127.0.0.1:${port}/`, startMs = START_MS } = launch;
      const program = started.use(startProgram(launch.command, { environment, log }, guard));
      try {
        await untilResponding(program, { url: respondsAt, signal, startMs });
        await launch.warmUp?.();
      } catch (error) {
        signal.throwIfAborted();
        // Another program may have taken the port in the meantime.
        if (attempt < TRIES && (error as NodeJS.ErrnoException).code !== 'ENOENT') continue;
        const logEnd = endOfLog(await readFile(log, 'utf8'));
        throw new Error(`${engine.name}: ${error instanceof Error ? error.message : error}: ${logEnd}`, {
          cause: error,
        });
      }
    }
    return running(launch, started.move());
  }
}

const running = ({ engines }: Launch, started: AsyncDisposableStack): RunningEngine => ({
  engines,
  [Symbol.asyncDispose]: () => started.disposeAsync(),
});

const START_MS = 60_000;
const POLL_MS = 50;

async function untilResponding(
  program: Program,
  { url, signal, startMs }: { readonly url: string; readonly signal: AbortSignal; readonly startMs: number },
): Promise<void> {
  const startedAt = Date.now();
  let ended: number | NodeJS.Signals | undefined;
  const end = program.ended.then((code) => {
    ended = code;
  });
  while (Date.now() - startedAt < startMs) {
    if (ended !== undefined) throw new Error(`ended with ${ended} before it responded`);
    const response = await fetch(url, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    // An engine that is still starting may respond with 503.
    if (response !== undefined && response.status !== 503) return;
    await Promise.race([sleep(POLL_MS, signal), end]);
  }
  throw new Error(`did not respond within ${startMs / 1_000} s`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('expected a port');
  return address.port;
}
