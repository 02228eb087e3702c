import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '../../../settings.ts';
import type { Invocation, Reply } from './invocation.ts';
import { forwardLines } from './log-lines.ts';

export type RunnerOptions = {
  readonly file: string;
  readonly environment: Environment;
  readonly memoryMb: number;
  readonly onLog: (line: string) => void;
};

type Outcome = Reply | { readonly kind: 'died'; readonly exit: string } | { readonly kind: 'timeout' };

/** One process that runs `handler-process.ts` for a handler's file. */
export type Runner = {
  /** False once the process has ended. */
  isAlive(): boolean;
  /** Whatever happens first: the reply with this id, the end of the process, or the time limit. */
  receive(id: string, limitMs: number): Promise<Outcome>;
  send(invocation: Invocation): void;
  /** Asks the process to exit, kills it by its id after `graceMs`, and waits for its exit and its last lines. */
  end(graceMs: number): Promise<void>;
};

export function startRunner({ file, environment, memoryMb, onLog }: RunnerOptions): Runner {
  const child = fork(new URL('./handler-process.ts', import.meta.url), [file], {
    env: { ...environment },
    // Lambda's share for long-lived objects.
    execArgv: [`--max-old-space-size=${Math.floor(memoryMb * 0.9)}`],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let isAlive = true;
  const exit = awaitExit(child).finally(() => {
    isAlive = false;
  });
  const outputs = [child.stdout, child.stderr].filter((output) => output !== null);
  const logged = Promise.all(outputs.map((output) => forwardLines(output, onLog)));
  return {
    isAlive: () => isAlive,
    receive: (id, limitMs) => firstOf(child, exit, id, limitMs),
    // Needs no error of its own: the caller that waits for the reply learns that the process has ended.
    send: (invocation) => void child.send(invocation, () => undefined),
    end: async (graceMs) => {
      if (child.connected) child.disconnect();
      const kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exit;
      clearTimeout(kill);
      // A child process of the handler may keep its output open.
      const cut = setTimeout(() => outputs.map((output) => output.destroy()), LAST_LINES_MS);
      await logged.catch(() => undefined);
      clearTimeout(cut);
    },
  };
}

const LAST_LINES_MS = 1_000;

/** How it ended, once everything it sent has been read: a process may reply and then exit at once. */
async function awaitExit(child: ChildProcess): Promise<string> {
  try {
    const [[code, signal]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    return signal === null ? `exit code ${code}` : `signal ${signal}`;
  } catch (error) {
    return String(error);
  }
}

async function firstOf(
  child: ChildProcess,
  exit: Promise<string>,
  id: string,
  limitMs: number,
): Promise<Outcome> {
  const outcome = Promise.withResolvers<Outcome>();
  // The handler may send messages of its own.
  const onMessage = (message: unknown) => {
    const reply = message as Reply | null;
    if (reply?.id === id) outcome.resolve(reply);
  };
  child.on('message', onMessage);
  const timer = setTimeout(() => outcome.resolve({ kind: 'timeout' }), limitMs);
  void exit.then((how) => outcome.resolve({ kind: 'died', exit: how }));
  try {
    return await outcome.promise;
  } finally {
    clearTimeout(timer);
    child.off('message', onMessage);
  }
}
