import type { Command } from 'commander';
import { createProgram } from '../../lib/cli/command-line.ts';
import { createFakeTerminal } from './fake-terminal.ts';

/** Checks a command line as the command does before it begins, and runs nothing. Returns what is wrong with it, or ''. */
export async function faultsOfLine(argv: readonly string[]): Promise<string> {
  const { terminal, err } = createFakeTerminal();
  const program = createProgram(terminal, () => undefined);
  for (const command of withAllBelow(program)) command.action(() => undefined);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return '';
  } catch (error) {
    const isHelp = (error as { readonly exitCode?: number }).exitCode === 0;
    return isHelp ? '' : err() || String(error);
  }
}

/** A command and all below it. */
export const withAllBelow = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withAllBelow),
];
