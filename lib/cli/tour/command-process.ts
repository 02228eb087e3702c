import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Terminal } from '../terminal/terminal.ts';

/** The command as a process of its own, as people start it. */
const COMMAND = fileURLToPath(new URL('../bin.js', import.meta.url));

/** Starts a command whose standard error is read. Whoever stops the tour kills it. */
export const startCommand = (
  argv: readonly string[],
  { environment, signal }: Pick<Terminal, 'environment' | 'signal'>,
) =>
  spawn(process.execPath, [COMMAND, ...argv], {
    env: { ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
