import { createScreen } from '../../lib/cli/terminal/terminal.ts';

/** A screen that records what is written to it. */
export function createFakeScreen(columns: number) {
  const stream = { columns };
  const written: string[] = [];
  const { screen, say } = createScreen(stream, (text) => void written.push(text));
  return {
    screen,
    say,
    stream,
    written: () => written.join(''),
    line: () =>
      written
        .join('')
        .split(/[\r\n]/)
        .at(-1)
        ?.replaceAll('\u001b[K', '') ?? '',
  };
}
