import { Argument, type Command, InvalidArgumentError, type Option } from 'commander';
import type { Ended, Found, Terminal } from './terminal/terminal.ts';

/** Parses what was typed. `before`: the value so far, for an option that is repeated. */
type Read = (text: string, before: never) => unknown;

/** An argument or option: how it is typed, its help, how it is parsed or its possible words, and its default. */
type ParameterSpec = readonly [
  typed: string,
  help: string,
  read?: Read | readonly string[] | undefined,
  fallback?: unknown,
];

/** A command: its help, completion and examples are built from it. */
type CommandDefinition = {
  /** What the command does, in one or two sentences. */
  readonly description: string;
  readonly arguments?: readonly ParameterSpec[];
  /** The required options. */
  readonly required?: readonly ParameterSpec[];
  readonly options?: readonly ParameterSpec[];
  /** False if the command creates a store, or needs none. Default: a missing folder is an error. */
  readonly needsStore?: false;
  /** False if the command has no option --json. */
  readonly json?: false;
  /** Creates options that help lists before `options`. They are created anew for each command. */
  readonly extraOptions?: () => readonly Option[];
  /** Command lines without `platform-sync`, shown in its help. */
  readonly examples: readonly string[];
  /** Loads the module whose default export runs the command. Absent: the command only groups subcommands. */
  readonly load?: () => Promise<unknown>;
};

/** Commands, by the words that lead to them, such as `jobs cancel`. */
export type CommandFamily = Readonly<Record<string, CommandDefinition>>;

type Word<Typed> = Typed extends `${infer First} ${string}` ? First : Typed;
type Camel<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name & string;
/** The name of an option's value: `dryRun` for `--dry-run`, `tables` for `--no-tables`. */
type NameOf<Typed> = Typed extends `--no-${infer Name}`
  ? Camel<Word<Name>>
  : Typed extends `--${infer Name}`
    ? Camel<Word<Name>>
    : never;

type ValueOf<Each> = Each extends readonly [string, string, infer Reads extends Read, ...unknown[]]
  ? ReturnType<Reads>
  : Each extends readonly [string, string, readonly (infer Words)[], ...unknown[]]
    ? Words
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

type WithFallback<Options extends readonly ParameterSpec[]> = Extract<
  Options[number],
  readonly [string, unknown, unknown, unknown]
>;

/** The values of options, by name. Only those that are required or have a default are always present. */
type Flags<Required extends readonly ParameterSpec[], Options extends readonly ParameterSpec[]> = {
  readonly [Each in Required[number] | WithFallback<Options> as NameOf<Each[0]>]: ValueOf<Each>;
} & {
  readonly [Each in Exclude<Options[number], WithFallback<Options>> as NameOf<Each[0]>]?: ValueOf<Each>;
};

/** The values of arguments; those in brackets may be absent. */
type Given<Arguments> = {
  readonly [Key in keyof Arguments]: Arguments[Key] extends readonly [`[${infer Rest}`, ...unknown[]]
    ? Rest extends `${string}...]`
      ? ValueOf<Arguments[Key]>
      : ValueOf<Arguments[Key]> | undefined
    : ValueOf<Arguments[Key]>;
};

/**
 * The families of commands. Each family adds itself to this interface. A family loads its handlers, so a
 * handler must not import it: the handler finds the types of its arguments here.
 */
// biome-ignore lint/suspicious/noEmptyInterface: see above
export interface Registry {}

type Families = Registry['families'];

/** The words that lead to a command, such as `jobs cancel`. */
export type CommandPath = { readonly [Name in keyof Families]: keyof Families[Name] }[keyof Families];

/** The definition of a command. */
export type DefinitionOf<Path extends CommandPath> = {
  readonly [Name in keyof Families]: Path extends keyof Families[Name] ? Families[Name][Path] : never;
}[keyof Families];

type Parameters<Path extends CommandPath, Name extends string> =
  DefinitionOf<Path> extends {
    readonly [Each in Name]: infer Value extends readonly ParameterSpec[];
  }
    ? Value
    : readonly [];

/** The parsed options of a command, by name. */
export type FlagsOf<Path extends CommandPath> = Flags<
  Parameters<Path, 'required'>,
  Parameters<Path, 'options'>
> & {
  readonly json?: true;
};

/** Runs a command with its parsed arguments and options. Returns how it ended, possibly with what to print. */
export type Run<Path extends CommandPath> = (
  given: Given<Parameters<Path, 'arguments'>>,
  flags: FlagsOf<Path>,
  terminal: Terminal,
  command: Command,
) => Promise<Ended | Found> | Ended | Found;

/** Adds a command below the words that lead to it. `heading`: its section in the program's help. */
export function addCommand(
  program: Command,
  path: string,
  definition: CommandDefinition,
  heading = '',
): Command {
  const words = path.split(' ');
  const parent = words
    .slice(0, -1)
    .reduce((at, word) => at.commands.find((each) => each.name() === word) ?? at, program);
  const command = parent.command(words.at(-1) ?? '').description(definition.description);
  for (const [typed, help, read, fallback] of definition.arguments ?? [])
    if (Array.isArray(read)) command.addArgument(new Argument(typed, help).choices(read));
    else command.argument(typed, help, read as never, fallback);
  for (const each of definition.required ?? []) command.requiredOption(...asCommander(each));
  for (const each of definition.extraOptions?.() ?? []) command.addOption(each);
  for (const each of definition.options ?? []) command.option(...asCommander(each));
  if (definition.json !== false) command.option('--json', 'print the outcome as one JSON value');
  for (const each of command.options) if (each.required) refuseOptions(each, command);
  if (words.length === 1 && heading !== '') command.helpGroup(`${heading}:`);
  const lines = definition.examples.map((line) => `  platform-sync ${line}`);
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
}

/** Refuses an option's name as the value of `option`, since the value was most likely forgotten. */
function refuseOptions(option: Option, command: Command): void {
  const { parseArg: read } = option;
  option.argParser((text, before: unknown) => {
    const isOption = command.options.some(({ long }) => long === text);
    if (isOption) throw new InvalidArgumentError(`Expected a value, got the option ${text}.`);
    return read === undefined ? text : read(text, before);
  });
}

/** Casts a parameter to the types that commander expects. */
const asCommander = (spec: ParameterSpec) =>
  spec as unknown as [typed: string, help: string, read: (text: string) => unknown, fallback: unknown];

/** The words that lead to a command, such as `snapshot files`. */
export const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
