import type { Command } from 'commander';
import { createProgram } from '../../lib/cli/command-line.ts';
import { createFakeTerminal } from './fake-terminal.ts';

/** Parses and checks a command line without running it. Returns the error, or '' if it is valid. */
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

/** A command and all its subcommands. */
export const withAllBelow = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap(withAllBelow),
];
