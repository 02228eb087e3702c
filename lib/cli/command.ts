import { Argument, type Command, InvalidArgumentError, type Option } from 'commander';
import type { CommandResult, ExitStatus, Terminal } from './terminal/terminal.ts';

/** Parses what was typed. `before`: the value so far, if the option may be repeated. */
type Parse = (text: string, before: never) => unknown;

/** An argument or option: how it is typed, its help, its parser or its possible values, and its default. */
type ParameterSpec = readonly [
  typed: string,
  help: string,
  parse?: Parse | readonly string[] | undefined,
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
  /** Creates the options that the help lists before `options`, anew at each call. */
  readonly extraOptions?: () => readonly Option[];
  /** Command lines without `platform-sync`, shown in its help. */
  readonly examples: readonly string[];
  /** Loads the module whose default export runs the command. Absent for a command that only groups subcommands. */
  readonly load?: () => Promise<unknown>;
};

/** Commands, by the words that a user types to run them, such as `jobs cancel`. */
export type CommandFamily = Readonly<Record<string, CommandDefinition>>;

type Word<Typed> = Typed extends `${infer First} ${string}` ? First : Typed;
type Camel<Name> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name & string;
/** The name of an option's value: `dryRun` for `--dry-run`, `tables` for `--no-tables`. */
type OptionName<Typed> = Typed extends `--no-${infer Name}`
  ? Camel<Word<Name>>
  : Typed extends `--${infer Name}`
    ? Camel<Word<Name>>
    : never;

type ValueOf<Each> = Each extends readonly [string, string, infer Parser extends Parse, ...unknown[]]
  ? ReturnType<Parser>
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
  readonly [Each in Required[number] | WithFallback<Options> as OptionName<Each[0]>]: ValueOf<Each>;
} & {
  readonly [Each in Exclude<Options[number], WithFallback<Options>> as OptionName<Each[0]>]?: ValueOf<Each>;
};

/** The values of arguments; an argument in brackets, such as `[id]`, may be absent. */
type ArgumentValues<Arguments> = {
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

/** The words that a user types to run a command, such as `jobs cancel`. */
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
  given: ArgumentValues<Parameters<Path, 'arguments'>>,
  flags: FlagsOf<Path>,
  terminal: Terminal,
  command: Command,
) => Promise<ExitStatus | CommandResult> | ExitStatus | CommandResult;

/** Adds a command to the program, below the command that groups it. `heading`: its section in the program's help. */
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
  for (const [typed, help, parse, fallback] of definition.arguments ?? [])
    if (Array.isArray(parse)) command.addArgument(new Argument(typed, help).choices(parse));
    else command.argument(typed, help, parse as never, fallback);
  for (const [typed, help, parse] of definition.required ?? [])
    command.requiredOption(...asCommander([typed, `${help} (required)`, parse]));
  for (const each of definition.extraOptions?.() ?? []) command.addOption(each);
  for (const each of definition.options ?? []) command.option(...asCommander(each));
  if (definition.json !== false) command.option('--json', 'print the result as JSON');
  for (const each of command.options) {
    if (each.required) refuseOptions(each, command);
    if (Array.isArray(each.defaultValue)) each.default(each.defaultValue, 'none');
  }
  if (words.length === 1 && heading !== '') command.helpGroup(`${heading}:`);
  const lines = definition.examples.map((line) => `  platform-sync ${line}`);
  return command.addHelpText('after', ['', 'Examples:', ...lines, '', GLOBAL_OPTIONS].join('\n'));
}

/** The last line of each command's help, since these options are listed only in the program's help. */
const GLOBAL_OPTIONS =
  'Every command also takes --env-file, --profile and --new-ledger: see platform-sync help';

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

/** The words that a user types to run a command, such as `snapshot files`. */
export const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
