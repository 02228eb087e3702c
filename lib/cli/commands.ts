import type { Command } from 'commander';
import { addCommand, type CommandFamily, type CommandPath, type DefinitionOf, type Run } from './command.ts';
import { formulas } from './families/formulas.ts';
import { jobs } from './families/jobs.ts';
import { operation } from './families/operation.ts';
import { questions } from './families/questions.ts';
import { scores } from './families/scores.ts';
import { snapshots } from './families/snapshots.ts';

/** The families of commands by their headings, in the order of help. Help, completion, checks and `docs/commands.md` are made of them. */
export const families = {
  'Set up and operate': operation,
  'Take and compare snapshots': snapshots,
  'Ask about what is stored': questions,
  'Run jobs': jobs,
  'Score texts': scores,
  'Change formulas': formulas,
} as const;

declare module './command.ts' {
  interface Registry {
    readonly families: typeof families;
  }
}

/** All commands by their words. */
export const commands: { readonly [Path in CommandPath]: DefinitionOf<Path> } = Object.assign(
  {},
  ...Object.values(families),
);

/** The commands that run something. A handler with other arguments than its definition does not compile here. */
const runnable: {
  readonly [Path in CommandPath as DefinitionOf<Path> extends { readonly load: unknown } ? Path : never]: {
    readonly load: () => Promise<{ readonly default: Run<Path> }>;
  };
} = commands;

/** How the handler of a command is loaded; undefined for a command that only has others below it. */
export const handlerOf = (path: string) =>
  path in commands ? runnable[path as keyof typeof runnable].load : undefined;

/** Adds all commands to the program, and lists them by their words. */
export const addCommands = (program: Command): readonly (readonly [path: string, added: Command])[] =>
  Object.entries<CommandFamily>(families).flatMap(([heading, family]) =>
    Object.entries(family).map(
      ([path, definition]) => [path, addCommand(program, path, definition, heading)] as const,
    ),
  );
