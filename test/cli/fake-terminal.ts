import type { Terminal } from '../../lib/cli/terminal/terminal.ts';

/** A terminal that records what is written to it. */
export function createFakeTerminal(
  environment: Terminal['environment'] = {},
  input: string | Uint8Array = '',
) {
  const [out, err]: [string[], string[]] = [[], []];
  const stop = new AbortController();
  const terminal: Terminal = {
    environment,
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    screen: undefined,
    readInput: async () => Buffer.from(input),
    signal: stop.signal,
    // The shortest possible long poll.
    polls: { waitSeconds: 1, emptyPolls: 1 },
  };
  return {
    terminal,
    out: () => out.join('\n'),
    err: () => err.join('\n'),
    interrupt: () => stop.abort(new Error('stopped by SIGINT')),
  };
}
