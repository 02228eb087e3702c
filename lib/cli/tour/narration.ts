import { quoted } from '../../base/index.ts';
import { runCommandLine } from '../command-line.ts';
import { exitCodes, type Terminal } from '../terminal/terminal.ts';

/** How a command of the tour is run. */
type RunOptions = {
  /** Settings that only this command has. */
  readonly settings?: Terminal['environment'];
  /** The exit code that the story needs; 0 if absent. */
  readonly expected?: number;
  /** False to show the command without its results, which a later one shows together. */
  readonly shows?: boolean;
};

export type Narration = ReturnType<typeof createNarration>;

/** Tells the tour: the steps, of which there will be so many, and the commands in them. */
export function createNarration(terminal: Terminal, steps: number) {
  const { out, signal } = terminal;
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
      { settings = {}, expected = exitCodes.done, shows = true }: RunOptions = {},
    ) {
      signal.throwIfAborted();
      const command = `platform-sync ${argv.map(shownWord).join(' ')}`;
      out(`\n$ ${command}`);
      const held: string[] = [];
      const code = await runCommandLine(argv, {
        ...terminal,
        environment: { ...terminal.environment, ...settings },
        ...(shows ? {} : { out: (text) => void held.push(text), err: (text) => void held.push(text) }),
      });
      signal.throwIfAborted();
      if (code === expected) return;
      for (const text of held) out(text);
      throw new Error(`${command} ended with ${code}, which is not how the story goes`);
    },
  };
}

const RULE = 100;

/** In double quotes where single ones would have to be written as `'\\''`. */
const shownWord = (word: string) =>
  word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : quoted(word);
