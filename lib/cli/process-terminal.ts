import { text } from 'node:stream/consumers';
import type { Terminal } from './terminal.ts';

/** The terminal of this process. The first Ctrl-C asks the command to stop; the second ends the process at once. */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Stays until the second one: others that end the process when they find no listener left must find this one.
    const onSignal = () => {
      if (stop.signal.aborted) {
        process.off(signal, onSignal);
        process.kill(process.pid, signal);
      }
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
  };
}
