import { Argument, type Command, InvalidArgumentError, type Option } from 'commander';

/** Reads what was typed; `before`: what an option that is repeated had before. */
type Read = (text: string, before: never) => unknown;

/** An argument or option: how it is typed, what it means, how it is read or which words it may be, its value if it is not given. */
export type Taken = readonly [
  typed: string,
  means: string,
  read?: Read | readonly string[] | undefined,
  fallback?: unknown,
];

/** A command: its help, completion and examples are made of it. */
export type CommandDefinition = {
  /** What it does, in a sentence or two. */
  readonly does: string;
  readonly arguments?: readonly Taken[];
  /** Options that must be given. */
  readonly required?: readonly Taken[];
  readonly options?: readonly Taken[];
  /** False for one that begins a store, or needs none. Default: a folder that is not there is most likely another one. */
  readonly needsStore?: false;
  /** False for one that has no option --json. */
  readonly json?: false;
  /** Makes options that come before these, whose values the command has: what commander makes of one belongs to it. */
  readonly more?: () => readonly Option[];
  /** Command lines without `platform-sync`, shown by its help. */
  readonly examples: readonly string[];
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

type WithFallback<Options extends readonly Taken[]> = Extract<
  Options[number],
  readonly [string, unknown, unknown, unknown]
>;

/** The values of options by their names: those that must be given or have a value without it, and the others. */
export type Flags<Required extends readonly Taken[], Options extends readonly Taken[]> = {
  readonly [Each in Required[number] | WithFallback<Options> as NameOf<Each[0]>]: ValueOf<Each>;
} & {
  readonly [Each in Exclude<Options[number], WithFallback<Options>> as NameOf<Each[0]>]?: ValueOf<Each>;
};

/** The values of arguments: those in brackets may be absent. */
export type Given<Arguments> = {
  readonly [Key in keyof Arguments]: Arguments[Key] extends readonly [`[${infer Rest}`, ...unknown[]]
    ? Rest extends `${string}...]`
      ? ValueOf<Arguments[Key]>
      : ValueOf<Arguments[Key]> | undefined
    : ValueOf<Arguments[Key]>;
};

/** Adds a command below the words that lead to it. */
export function addCommand(program: Command, path: string, definition: CommandDefinition): Command {
  const words = path.split(' ');
  const parent = words
    .slice(0, -1)
    .reduce((at, word) => at.commands.find((each) => each.name() === word) ?? at, program);
  const command = parent.command(words.at(-1) ?? '').description(definition.does);
  for (const [typed, means, read, fallback] of definition.arguments ?? [])
    if (Array.isArray(read)) command.addArgument(new Argument(typed, means).choices(read));
    else command.argument(typed, means, read as never, fallback);
  for (const each of definition.required ?? []) command.requiredOption(...asCommander(each));
  for (const each of definition.more?.() ?? []) command.addOption(each);
  for (const each of definition.options ?? []) command.option(...asCommander(each));
  if (definition.json !== false) command.option('--json', 'print the outcome as one JSON value');
  for (const each of command.options) if (each.required) refuseOptions(each, command);
  const lines = definition.examples.map((line) => `  platform-sync ${line}`);
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
}

/** Lets no option of the command be the value of another one: that was left out. */
function refuseOptions(option: Option, command: Command): void {
  const { parseArg: read } = option;
  option.argParser((text, before: unknown) => {
    const isOption = command.options.some(({ long }) => long === text);
    if (isOption) throw new InvalidArgumentError(`Expected a value, got the option ${text}.`);
    return read === undefined ? text : read(text, before);
  });
}

/** As the types of commander have it. */
const asCommander = (taken: Taken) =>
  taken as unknown as [typed: string, means: string, read: (text: string) => unknown, fallback: unknown];

/** The words that lead to a command, such as `snapshot files`. */
export const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
