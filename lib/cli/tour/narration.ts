import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { quoted, sleep } from '../../base/index.ts';
import { runCommandLine } from '../command-line.ts';
import { exitCodes, type Terminal } from '../terminal/terminal.ts';

/** How a command of the tour is run. */
type RunOptions = {
  /** Settings that only this command has. */
  readonly settings?: Terminal['environment'];
  /** The exit codes that the story allows; 0 alone if absent. */
  readonly expected?: readonly number[];
  /** False to show the command without its results, which a later one shows together. */
  readonly shows?: boolean;
};

export type Narration = ReturnType<typeof createNarration>;

/** How often it is looked whether a command is in the middle. */
const LOOK_EVERY_MS = 20;

/** The command as a process of its own, as people start it. */
const COMMAND = fileURLToPath(new URL('../bin.js', import.meta.url));

/** Tells the tour: the steps, of which there will be so many, and the commands in them. */
export function createNarration(terminal: Terminal, steps: number) {
  const { out, signal, environment } = terminal;
  let begun = 0;
  return {
    say: out,
    /** Begins a step: its title, and in one line why one would want it. */
    step(title: string, why: string) {
      begun += 1;
      out(`\n${'─'.repeat(RULE)}\n${begun}/${steps}  ${title}\n     ${why}`);
    },
    /** Shows a command as people type it, and runs it. Throws the reason of a stop, or if it ends otherwise than expected. */
    async run(
      argv: readonly string[],
      { settings = {}, expected = [exitCodes.done], shows = true }: RunOptions = {},
    ) {
      signal.throwIfAborted();
      const command = `platform-sync ${argv.map(quoted).join(' ')}`;
      out(`\n$ ${command}`);
      const held: string[] = [];
      const code = await runCommandLine(argv, {
        ...terminal,
        environment: { ...environment, ...settings },
        ...(shows ? {} : { out: (text) => void held.push(text), err: (text) => void held.push(text) }),
      });
      signal.throwIfAborted();
      if (expected.includes(code)) return;
      for (const text of held) out(text);
      throw new Error(`${command} ended with ${code}, which is not how the story goes`);
    },
    /** Shows a command, runs it in a process of its own, and kills that once `isTime`. Throws if it ends before. */
    async runKilled(argv: readonly string[], isTime: () => Promise<boolean>, settings = {}) {
      out(`\n$ platform-sync ${argv.join(' ')}`);
      const env = { ...environment, ...settings };
      // Whoever stops the tour ends it.
      const child = spawn(process.execPath, [COMMAND, ...argv], {
        ...{ env, signal, stdio: 'ignore', killSignal: 'SIGKILL' },
      });
      const ended = once(child, 'exit');
      ended.catch(() => undefined);
      while (!(await isTime())) {
        if (child.exitCode !== null)
          throw new Error(`expected to kill ${argv.join(' ')}, but it ended with ${child.exitCode}`);
        await sleep(LOOK_EVERY_MS, signal);
      }
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const RULE = 100;
