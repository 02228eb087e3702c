import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { createOutput, OutputError, type OutputFault } from './process-output.ts';
import { createScreen } from './screen.ts';
import type { Awaited, Terminal } from './terminal.ts';

/** npm forwards a Ctrl-C that the terminal has already sent to this process: a repeat this soon is the same one. */
const REPEAT_MS = 250;

/** A stop that takes longer than this, without anything that is known to be waited for, is said. */
const SILENT_MS = 1_000;

/**
 * The terminal of this process. The first Ctrl-C asks the command to stop, and says what is waited for; the second says
 * what is lost, and ends the process at once. Output that nobody can have asks the command to stop, too.
 */
export function processTerminal(): Terminal {
  const stop = new AbortController();
  const awaits = createAwaits();
  let fault: OutputFault | undefined;
  const err = createOutput(process.stderr, (found) => {
    // Work goes on without a log that a full disk cannot take.
    if (found.kind === 'closed') stop.abort(new OutputError(found));
  });
  const out = createOutput(process.stdout, (found) => {
    fault = found;
    if (found.kind === 'lost')
      say(
        `platform-sync: standard output cannot be written: ${found.reason}; what was printed is incomplete`,
      );
    stop.abort(new OutputError(found));
  });
  const { screen, say } = createScreen(process.stderr, err);
  stopOnSignals(stop, say, awaits);
  return {
    environment: process.env,
    out: (line) => out(`${line}\n`),
    err: say,
    screen: process.stderr.isTTY ? screen : undefined,
    readInput: () => readInput(stop.signal),
    signal: stop.signal,
    width: process.stdout.isTTY ? process.stdout.columns : undefined,
    drained: async () => {
      await untilDrained(process.stdout, stop.signal);
      return fault === undefined;
    },
    dialog:
      process.stdin.isTTY && process.stdout.isTTY
        ? { input: process.stdin, output: process.stdout }
        : undefined,
    pipes: { input: process.stdin, output: process.stdout },
    outputFault: () => fault,
    awaits: awaits.hold,
    holdLeft({ operation, timeoutMs }) {
      const left = LEFT[operation];
      const untilMs = performance.now() + timeoutMs;
      return left === undefined ? { [Symbol.dispose]: () => undefined } : awaits.hold({ ...left, untilMs });
    },
  };
}

/** Resolves when the stream has room, or never will have. */
async function untilDrained(stream: NodeJS.WriteStream, stop: AbortSignal): Promise<void> {
  // The error of a write comes later.
  await setImmediate();
  if (!stream.writableNeedDrain || stop.aborted) return;
  // Of one that was closed an error comes, which stops the command.
  await once(stream, 'drain', { signal: stop }).catch(() => undefined);
}

type Awaits = ReturnType<typeof createAwaits>;

function stopOnSignals(
  stop: AbortController,
  say: (line: string) => void,
  { waitedFor, lost }: Pick<Awaits, 'waitedFor' | 'lost'>,
): void {
  let stoppedMs: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Stays until the second one: libraries that end the process when they find no other listener must find this one.
    const onSignal = () => {
      const nowMs = performance.now();
      if (stoppedMs === undefined) {
        stoppedMs = nowMs;
        // A process that is exiting cannot catch signals, so it stays alive until the repeat has arrived.
        setTimeout(() => undefined, REPEAT_MS);
        stop.abort(new Error(`stopped by ${signal}`));
        sayWhy(say, waitedFor);
        return;
      }
      // The shell and the kernel each report a closed terminal, in their own time: nobody insists.
      if (signal === 'SIGHUP' || nowMs - stoppedMs < REPEAT_MS) return;
      const words = lost();
      say(words === undefined ? 'ended at once; nothing is lost' : `ended at once; lost: ${words}`);
      process.off(signal, onSignal);
      process.kill(process.pid, signal);
    };
    process.on(signal, onSignal);
  }
}

/** Says what a stop waits for: at once if that is known, otherwise if it takes a while. */
function sayWhy(say: (line: string) => void, waitedFor: Awaits['waitedFor']): void {
  const words = waitedFor();
  if (words !== undefined) say(`stopping: waiting for ${words}; Ctrl-C again ends at once`);
  else
    setTimeout(
      () => say('stopping: what is in hand is being finished; Ctrl-C again ends at once'),
      SILENT_MS,
    ).unref();
}

/** Standard input; a stop ends it, since nobody may ever do so at a terminal. */
async function readInput(signal: AbortSignal): Promise<Uint8Array> {
  const end = () => process.stdin.destroy();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await buffer(process.stdin);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Remembers what is waited for, and what an end at once would lose. */
function createAwaits() {
  const held = new Set<Awaited>();
  const listed = (of: 'what' | 'lost') => {
    const groups = Map.groupBy(held, (each) => each[of]);
    return [...groups].flatMap(([words, { length }]) => words?.replace('#', `${length}`) ?? []);
  };
  return {
    hold(awaited: Awaited): Disposable {
      // One of its own, even if the same is held twice.
      const one = { ...awaited };
      held.add(one);
      return { [Symbol.dispose]: () => void held.delete(one) };
    },
    /** `2 paid response(s), at most 50 s`; undefined if nothing is waited for. */
    waitedFor() {
      const untilMs = Math.max(...[...held].map((each) => each.untilMs ?? 0));
      const seconds = Math.max(1, Math.ceil((untilMs - performance.now()) / 1_000));
      return listed('what').length === 0
        ? undefined
        : `${listed('what').join(' and ')}, at most ${seconds} s`;
    },
    /** What an end at once loses; undefined if that is nothing. */
    lost: () => (held.size === 0 ? undefined : listed('lost').join('; ')),
  };
}

/** What is waited for, and what is lost without it, by the operation; every other one can be sent again. */
const LEFT: Readonly<Record<string, Awaited>> = {
  analyzeSentiment: {
    what: '# paid response(s)',
    lost: '# paid response(s), whose texts are paid for again when they are scored',
  },
  runFunction: {
    what: '# response(s) of functions',
    lost: '# response(s) of functions, which may have run: look at what they change before they are run again',
  },
  updateFormula: {
    what: '# response(s) to updates of formulas',
    lost: '# response(s) to updates of formulas, which may be set: look at the calculations',
  },
};
