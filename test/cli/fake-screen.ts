import { createScreen } from '../../lib/cli/terminal/terminal.ts';

/** A terminal's last line, and all that was written to it. */
export function createFakeScreen(columns: number) {
  const stream = { columns };
  const written: string[] = [];
  const { screen, say } = createScreen(stream, (text) => void written.push(text));
  return {
    screen,
    say,
    stream,
    written: () => written.join(''),
    /** What stands in the last line. */
    line: () =>
      written
        .join('')
        .split(/[\r\n]/)
        .at(-1)
        ?.replaceAll('\u001b[K', '') ?? '',
  };
}
