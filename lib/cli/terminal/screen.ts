/** The last line of a terminal, which shows how far a command is, below what it says. */
export type Screen = {
  /** How many characters a line has now: people change the size of their windows. */
  readonly columns: () => number;
  /** Puts a line, which holds no control characters, in the place of the one before, cut to the width; undefined takes it off. */
  readonly show: (line: string | undefined) => void;
};

/** Of a terminal that does not know its width. */
const COLUMNS = 80;

/** Moves to the beginning of the line, and erases to its end. Neither can leave the terminal in another state. */
const START = '\r';
const ERASE = '\u001b[K';

/**
 * A screen, and the way to write lines above it: whatever else is written to the terminal has to go through `say`. The
 * line never reaches the last column, where terminals wrap.
 */
export function createScreen(
  stream: { readonly columns?: number | undefined },
  write: (text: string) => void,
) {
  let line = '';
  const columns = () => stream.columns || COLUMNS;
  const screen: Screen = {
    columns,
    show(given) {
      const next = (given ?? '').slice(0, columns() - 1);
      if (next === line) return;
      line = next;
      write(`${START}${line}${ERASE}`);
    },
  };
  return {
    screen,
    say: (text: string) => write(line === '' ? `${text}\n` : `${START}${ERASE}${text}\n${line}`),
  };
}
