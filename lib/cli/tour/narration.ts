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

/** Tells the tour: the steps, and the commands in them. */
export type Narration = {
  /** Begins a step: its title, and in one line why one would want it. */
  readonly step: (title: string, why: string) => void;
  readonly say: (line: string) => void;
  /** Shows a command as people type it, and runs it. */
  readonly run: (argv: readonly string[], options?: RunOptions) => Promise<void>;
  /** The commands that did not end as expected, with their exit codes. */
  readonly unexpected: readonly { readonly command: string; readonly code: number }[];
};

/** `steps`: how many there will be. A command that is stopped throws the reason of the stop. */
export function createNarration(terminal: Terminal, steps: number): Narration {
  const { out, signal } = terminal;
  const unexpected: { readonly command: string; readonly code: number }[] = [];
  let begun = 0;
  return {
    unexpected,
    say: out,
    step(title, why) {
      begun += 1;
      out(`\n${'─'.repeat(RULE)}\n${begun}/${steps}  ${title}\n     ${why}`);
    },
    async run(argv, { settings = {}, expected = exitCodes.done, shows = true } = {}) {
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
      unexpected.push({ command, code });
      for (const text of held) out(text);
    },
  };
}

const RULE = 100;

/** In double quotes where single ones would have to be written as `'\\''`. */
const shownWord = (word: string) =>
  word.includes("'") && !/["$`\\!]/.test(word) ? `"${word}"` : quoted(word);
