import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import type { Terminal } from './terminal.ts';

/** npm forwards a Ctrl-C that the terminal has already sent to this process: a repeat this soon is the same one. */
const REPEAT_MS = 250;

/** The terminal of this process. The first Ctrl-C asks the command to stop; the second ends the process at once. */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  let stoppedMs = Number.NaN;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Stays until the second one: libraries that end the process when they find no other listener must find this one.
    const onSignal = () => {
      if (stop.signal.aborted) {
        if (performance.now() - stoppedMs < REPEAT_MS) return;
        process.off(signal, onSignal);
        process.kill(process.pid, signal);
      }
      stoppedMs = performance.now();
      // A process that is exiting cannot catch signals, so it stays alive until the repeat has arrived.
      setTimeout(() => undefined, REPEAT_MS);
      stop.abort(new Error(`stopped by ${signal}`));
    };
    process.on(signal, onSignal);
  }
  return {
    environment: process.env,
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    screen: process.stderr.isTTY ? process.stderr : undefined,
    readInput: () => text(process.stdin),
    signal: stop.signal,
    width: process.stdout.isTTY ? process.stdout.columns : undefined,
    drained: createDrained(process.stdout),
    dialog:
      process.stdin.isTTY && process.stdout.isTTY
        ? { input: process.stdin, output: process.stdout }
        : undefined,
  };
}

/** A reader that has gone is no failure: whoever runs `| head` wants no more. */
function createDrained(stream: NodeJS.WriteStream): () => Promise<boolean> {
  let isClosed = false;
  stream.on('error', (error) => {
    if (!('code' in error) || error.code !== 'EPIPE') throw error;
    isClosed = true;
  });
  return async () => {
    // The error of a write comes later.
    await setImmediate();
    if (stream.writableNeedDrain && !isClosed)
      await Promise.race([once(stream, 'drain'), once(stream, 'close')]);
    return !isClosed;
  };
}
