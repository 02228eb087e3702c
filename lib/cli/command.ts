import type { Argument, Command, Option } from 'commander';
import type { Terminal } from './terminal/terminal.ts';

/** Takes the exit code of a command that has finished. */
export type Finish = (code: number) => void;

/** Reads what was typed; `before`: what an option that is repeated had before. */
type Read = (text: string, before: never) => unknown;

/** An argument or option as commander takes it: how it is typed, what it means, how it is read, its value if it is not given. */
type Taken = readonly [typed: string, means: string, read?: Read | undefined, fallback?: unknown];

/** A command: its help, completion and examples are made of it. */
export type CommandDefinition = {
  /** What it does, in a sentence or two. */
  readonly does: string;
  readonly arguments?: readonly (Taken | Argument)[];
  /** Options that must be given. */
  readonly required?: readonly Taken[];
  readonly options?: readonly Taken[];
  /** Options that come before these, whose values the command has. */
  readonly more?: readonly Option[];
  /** The options that one cannot be given with. */
  readonly conflicts?: Readonly<Record<string, readonly string[]>>;
  /** Command lines without `platform-sync`, shown by its help. */
  readonly examples: readonly string[];
  /** The commands below it, by their names. */
  readonly below?: Readonly<Record<string, CommandDefinition>>;
  /** Returns the exit code, or throws. Absent: only the commands below it do something. */
  readonly run?: (given: readonly never[], flags: never, terminal: Terminal, command: Command) => unknown;
};

type Word<Typed> = Typed extends `${infer First} ${string}` ? First : Typed;
type Camel<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name & string;
/** `dryRun` of `--dry-run`, `tables` of `--no-tables`. */
type NameOf<Typed> = Typed extends `--no-${infer Name}`
  ? Camel<Word<Name>>
  : Typed extends `--${infer Name}`
    ? Camel<Word<Name>>
    : never;

type ValueOf<Each> = Each extends readonly [string, string, infer Reads extends Read, ...unknown[]]
  ? ReturnType<Reads>
  : Each extends readonly [infer Typed, ...unknown[]]
    ? Typed extends `--no-${string}`
      ? boolean
      : Typed extends `${string}...]`
        ? readonly string[]
        : Typed extends `${string}<${string}` | `[${string}`
          ? string
          : Typed extends `${string}[${string}`
            ? string | true
            : true
    : string;

type At<All> = Exclude<keyof All, keyof []>;
type TypedAt<All, Key extends keyof All> = All[Key] extends readonly [infer Typed, ...unknown[]]
  ? Typed
  : never;
type HasFallback<Each> = Each extends readonly [unknown, unknown, unknown, unknown] ? true : false;

/** The values of options by their names. */
type Flags<Required, Options> = {
  readonly [Key in At<Required> as NameOf<TypedAt<Required, Key>>]: ValueOf<Required[Key]>;
} & {
  readonly [Key in At<Options> as HasFallback<Options[Key]> extends true
    ? NameOf<TypedAt<Options, Key>>
    : never]: ValueOf<Options[Key]>;
} & {
  readonly [Key in At<Options> as HasFallback<Options[Key]> extends true
    ? never
    : NameOf<TypedAt<Options, Key>>]?: ValueOf<Options[Key]>;
};

/** The values of arguments: those in brackets may be absent. */
type Given<Arguments> = {
  readonly [Key in keyof Arguments]: Arguments[Key] extends readonly [`[${infer Rest}`, ...unknown[]]
    ? Rest extends `${string}...]`
      ? ValueOf<Arguments[Key]>
      : ValueOf<Arguments[Key]> | undefined
    : ValueOf<Arguments[Key]>;
};

/** A command whose `run` has the values of its arguments and options, typed as they are read. */
export const defineCommand = <
  const Arguments extends readonly (Taken | Argument)[] = [],
  const Required extends readonly Taken[] = [],
  const Options extends readonly Taken[] = [],
>(
  definition: Omit<CommandDefinition, 'run'> & {
    readonly arguments?: Arguments;
    readonly required?: Required;
    readonly options?: Options;
    readonly run: (
      given: Given<Arguments>,
      flags: Flags<Required, Options>,
      terminal: Terminal,
      command: Command,
    ) => Promise<number> | number;
  },
): CommandDefinition => definition as unknown as CommandDefinition;

/** Adds the command of this name, with all below it; `finish` gets its exit code. */
export function addCommand(
  parent: Command,
  name: string,
  { definition, terminal, finish }: { definition: CommandDefinition; terminal: Terminal; finish: Finish },
): void {
  const {
    does,
    arguments: taken = [],
    required = [],
    options = [],
    more = [],
    conflicts = {},
    run,
  } = definition;
  const command = parent.command(name).description(does);
  for (const each of taken)
    if ('length' in each) command.argument(...asCommander(each));
    else command.addArgument(each);
  for (const each of required) command.requiredOption(...asCommander(each));
  for (const each of more) command.addOption(each);
  for (const each of options) command.option(...asCommander(each));
  for (const each of command.options) each.conflicts([...(conflicts[each.attributeName()] ?? [])]);
  const lines = definition.examples.map((line) => `  platform-sync ${line}`);
  command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
  for (const [word, below] of Object.entries(definition.below ?? {}))
    addCommand(command, word, { definition: below, terminal, finish });
  if (run === undefined) return;
  command.action(async (...all) => {
    const [given, flags] = [all.slice(0, taken.length), all[taken.length]];
    finish((await run(given as never, flags as never, terminal, command)) as number);
  });
}

/** As the types of commander have it. */
const asCommander = (taken: Taken) =>
  taken as unknown as [typed: string, means: string, read: (text: string) => unknown, fallback: unknown];

/** The words that lead to a command, such as `snapshot files`. */
export const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
