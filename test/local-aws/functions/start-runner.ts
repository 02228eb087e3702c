import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Invocation, Reply } from './invocation.ts';
import { MAY_FREEZE, type SpawnOptions, spawnHandler } from './spawn-handler.ts';

export type RunnerOptions = SpawnOptions & { readonly onLog: (line: string) => void };

type Outcome = Reply | { readonly kind: 'died'; readonly exit: string } | { readonly kind: 'timeout' };

/** One process that runs a handler's file. */
export type Runner = {
  /** False once the process has ended. */
  isAlive(): boolean;
  /** Whatever happens first: the reply with this id, the end of the process, or the time limit. */
  receive(id: string, limitMs: number): Promise<Outcome>;
  /** Continues the process, if it is frozen, and sends it an invocation. */
  send(invocation: Invocation): void;
  /** Stops the process until the next `send`, and waits until what it has written so far has been passed on. */
  freeze(): Promise<void>;
  /** Continues the process, asks it to exit, kills it by its id after `graceMs`, and waits for its exit and its last lines. */
  end(graceMs: number): Promise<void>;
};

/** Starts the process. Where processes cannot be stopped, on Windows, `freeze` leaves it running. */
export function startRunner({ onLog, ...options }: RunnerOptions): Runner {
  const { child, exit: ended } = spawnHandler(options);
  let isAlive = true;
  const exit = ended.finally(() => {
    isAlive = false;
  });
  const outputs = [child.stdout, child.stderr].filter((output) => output !== null);
  let chunks = 0;
  for (const output of outputs) output.on('data', () => (chunks += 1));
  const logged = Promise.all(outputs.map((output) => forwardLines(output, onLog)));
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => MAY_FREEZE && child.kill(name);
  return {
    isAlive: () => isAlive,
    receive: (id, limitMs) => firstOf(child, exit, id, limitMs),
    send(invocation) {
      signal('SIGCONT');
      // An error of sending is ignored: the caller that waits for the reply learns that the process has ended.
      child.send(invocation, () => undefined);
    },
    async freeze() {
      signal('SIGSTOP');
      // The process wrote its lines before its reply. They are in the pipes, and each turn of the event loop reads some.
      for (let before = -1; before !== chunks; ) {
        before = chunks;
        for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
      }
    },
    end: async (graceMs) => {
      signal('SIGCONT');
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
const TURNS = 3;

async function firstOf(
  child: ChildProcess,
  exit: Promise<string>,
  id: string,
  limitMs: number,
): Promise<Outcome> {
  const outcome = Promise.withResolvers<Outcome>();
  // The handler may send other messages too.
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

/** Longer lines are split into pieces of this number of characters, so that output cannot exhaust memory. */
const MAX_LINE_LENGTH = 262_144;

/** Passes on each line of a stream as it arrives, and the incomplete last line at its end. */
async function forwardLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
    for (; rest.length > MAX_LINE_LENGTH; rest = rest.slice(MAX_LINE_LENGTH))
      onLine(rest.slice(0, MAX_LINE_LENGTH));
  }
  if (rest !== '') onLine(rest);
}
