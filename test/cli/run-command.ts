import { runCommandLine } from '../../lib/cli/command-line.ts';
import type { Terminal } from '../../lib/cli/terminal/terminal.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';
import { checkedShape } from './checked-shape.ts';
import { createFakeTerminal } from './fake-terminal.ts';

/** Runs a command line in this process: how it ended, and what it printed, which `docs/schemas` must say. */
export async function runCommand(
  argv: readonly string[],
  environment: Terminal['environment'] = {},
  input = '',
  more: Partial<Terminal> = {},
) {
  const { terminal, out, err } = createFakeTerminal(environment, input);
  const code = await runCommandLine(argv, { ...terminal, ...more });
  return checkedShape(argv, { code, out: out(), err: err() });
}

/** The settings that reach a reference platform, fast, with this store. */
export const settingsOf = ({ url, token }: Pick<Sandbox, 'url' | 'token'>, store: string) => ({
  PLATFORM_BASE_URL: url,
  PLATFORM_TOKEN: token,
  PLATFORM_RATE: '1000',
  SYNC_STORE: store,
});
