import { createRequire } from 'node:module';
import { Command, Option } from 'commander';
import { nearestName, quoted, shortened, shownJson } from '../base/index.ts';
import { printJson } from '../base/json/index.ts';
import { storeLocation } from '../locations.ts';
import type { Environment } from '../settings.ts';
import { checkStoreExists } from '../store/index.ts';
import { NEW_LEDGER, NEW_LEDGER_RISK } from '../table/index.ts';
import {
  addCommand,
  type CommandFamily,
  type CommandPath,
  type DefinitionOf,
  pathOf,
  type Run,
} from './command.ts';
import { explain, MAX_MESSAGE_LENGTH } from './errors/explain.ts';
import { formulas } from './families/formulas.ts';
import { jobs } from './families/jobs.ts';
import { operation } from './families/operation.ts';
import { questions } from './families/questions.ts';
import { scores } from './families/scores.ts';
import { snapshots } from './families/snapshots.ts';
import { withSettingsFile } from './options/settings-file.ts';
import { hideSecrets } from './terminal/hide-secrets.ts';
import { createLogLines } from './terminal/log-lines.ts';
import {
  type ExitStatus,
  exitCodes,
  printCommandResult,
  processTerminal,
  shownLines,
  type Terminal,
} from './terminal/terminal.ts';

/**
 * Returns a function that rewrites the command lines in a hint so that they can be pasted: they begin like the
 * current command line, with npx and its settings file.
 */
function createHintRewriter(
  environment: Environment,
  { envFile, profile }: Parameters<typeof withSettingsFile>[0],
): (hint: string) => string {
  const program = environment['npm_command'] === 'exec' ? ['npx', 'platform-sync'] : ['platform-sync'];
  const settings =
    envFile === undefined ? (profile === undefined ? [] : ['--profile', profile]) : ['--env-file', envFile];
  const start = [...program, ...settings].map(quoted).join(' ');
  return (hint) => hint.replaceAll(COMMAND_LINE, `${start.replaceAll('$', '$$$$')} `);
}

/** Matches the name of the program before a command. (An error message begins with `platform-sync: `, with a colon.) */
const COMMAND_LINE = /(?<![\w./-])(?:npx )?platform-sync (?=[a-z]+(?:-[a-z]+)*(?![\w/.:]))/g;

/**
 * Runs one command line and returns its exit code: 0 done, 1 failed, 2 wrong usage or settings, 3 incomplete, 130
 * stopped by Ctrl-C without a run that can be resumed. Never throws, and never ends the process.
 */
export async function runCommandLine(
  argv: readonly string[],
  given: Terminal = processTerminal(),
): Promise<number> {
  let { environment } = given;
  let hide = hideSecrets(environment);
  let rewriteHint = (hint: string) => hint;
  // Secrets are hidden before the text is shortened, since half a secret would not be recognized.
  const err = (text: string) =>
    given.err(shortened(hide(rewriteHint(text.slice(0, 2 * MAX_MESSAGE_LENGTH))), MAX_MESSAGE_LENGTH));
  const terminal: Terminal = {
    ...given,
    // A getter, since the settings file is added when the command begins.
    get environment() {
      return environment;
    },
    err,
    ...(given.screen === undefined ? {} : { log: createLogLines({ err, now: Date.now }) }),
    // Here JSON is made safe to print, for all commands.
    out: (text) => {
      hasPrinted = true;
      given.out(isJson ? shownJson(text) : hasHints ? rewriteHint(text) : text);
    },
  };
  let isJson = false;
  let hasHints = false;
  let hasPrinted = false;
  let ended: ExitStatus = 'done';
  const program = createProgram(terminal, (finished) => {
    ended = finished;
  });
  program.hook('preAction', async (_, command) => {
    const flags = command.optsWithGlobals<Parameters<typeof withSettingsFile>[0]>();
    environment = await withSettingsFile(flags, environment);
    hide = hideSecrets(environment);
    rewriteHint = createHintRewriter(given.environment, flags);
    isJson = command.opts()['json'] === true;
    hasHints = !argv.includes('--json') && printsHints(pathOf(command));
    await checkStoreOf(command, terminal);
    if (!flags.newLedger) return;
    environment = { ...environment, [NEW_LEDGER]: 'true' };
    err(`platform-sync: --new-ledger: ${NEW_LEDGER_RISK}`);
  });
  try {
    await program.parseAsync(helpOf(argv, program), { from: 'user' });
  } catch (error) {
    const explained = explain(error, terminal);
    ended = explained.ended;
    // Only one JSON value may be printed. If results were printed, only the exit code shows the error.
    if (explained.error !== undefined && argv.includes('--json') && !hasPrinted)
      terminal.out(shownJson(hide(printJson({ error: explained.error }, 2))));
  }
  // If some output was lost, the command has failed, whatever it returned.
  return terminal.outputFault?.()?.kind === 'lost' ? exitCodes.failed : exitCodes[ended];
}

/**
 * Throws a `bad-location` StoreError if the store does not exist, for example because the command was started in the
 * wrong folder. Creates nothing.
 */
async function checkStoreOf(command: Command, { environment, openStore }: Terminal): Promise<void> {
  const { needsStore }: CommandFamily[string] = commands[pathOf(command) as CommandPath];
  if (needsStore !== false && openStore === undefined) await checkStoreExists(storeLocation(environment));
}

/** Whether the output of a command contains command lines to paste, rather than rows, formulas or files. */
const printsHints = (path: string): boolean =>
  /^(init|doctor|run|work|jobs|redrive|publish|prune|score|batches|tables|snapshot|formula (apply|undo))\b/.test(
    path,
  );

/** Matches a long word, to shorten it in commander's messages. */
const LONG_WORD = /(\S{200})\S{100,}/g;

const OPTIONS = [
  ['--env-file <file>', 'read settings from a file; the environment takes precedence'],
  [
    '--profile <name>',
    'read settings from platform-sync.NAME.env, here or in the user’s configuration folder',
  ],
  ['--new-ledger', `use this SYNC_TABLE as the ledger of the store from now on: ${NEW_LEDGER_RISK}`],
] as const;

/** Adds these options to the program and, hidden from help, to every command below it. */
function addSettingsOptions(command: Command, isHidden = false): void {
  for (const [flags, help] of OPTIONS) command.addOption(new Option(flags, help).hideHelp(isHidden));
  for (const below of command.commands) addSettingsOptions(below, true);
}

/**
 * Creates the program with all commands. They write to the terminal, and throw where commander would end the process.
 */
export function createProgram(terminal: Terminal, finish: (ended: ExitStatus) => void): Command {
  const program = new Command('platform-sync')
    .description(
      'Copies the metadata of a cloud BI platform to S3 or a folder every night, and makes changes and runs jobs on it in bulk.',
    )
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpCommand('help [command...]', 'print the help of a command')
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ helpWidth: Math.max(80, terminal.width ?? 100) })
    .showHelpAfterError('(see --help)')
    // An option after a command's name belongs to that command, even if its parent has an option of this name.
    .enablePositionalOptions()
    // All commands inherit the next two settings: they throw instead of ending the process.
    .exitOverride()
    .configureOutput({
      // Help contains command lines to paste, and is printed before the hook `preAction` runs.
      writeOut: (text) => terminal.out(createHintRewriter(terminal.environment, {})(text.trimEnd())),
      // The arguments may be untrusted, such as names that a script reads from a list.
      writeErr: (text) => terminal.err(shownLines(text.trimEnd().replaceAll(LONG_WORD, '$1…'))),
      outputError: (text, write) => write(`${text}${suggestionFor(text, program)}`),
    });
  for (const [path, command] of addCommands(program)) {
    const load = handlerOf(path);
    if (load === undefined) {
      command.configureOutput({
        outputError: (text, write) => write(`${text}${subcommandHint(text, command)}`),
      });
      continue;
    }
    command.action(async (...all) => {
      const { default: run } = await load();
      const flags = all.at(-2);
      const found = await run(all.slice(0, -2) as never, flags as never, terminal, command);
      finish(typeof found === 'string' ? found : printCommandResult(found, flags.json, terminal));
    });
  }
  addSettingsOptions(program);
  return program;
}

/** The version of the package to which this file belongs. */
function packageVersion(): string {
  // The package is found by its own name, since the sources and the built package are in different folders.
  const { version }: { readonly version: string } = createRequire(import.meta.url)(
    'platform-sync/package.json',
  );
  return version;
}

/**
 * Turns `help jobs cancel` into `jobs cancel --help`, and `help jbos` into `jbos`, for which commander suggests the
 * nearest command.
 */
function helpOf([first, ...words]: readonly string[], program: Command): readonly string[] {
  const given = first === undefined ? [] : [first, ...words];
  if (first !== 'help') return given;
  let at: Command | undefined = program;
  for (const word of words) at = at?.commands.find((each) => each.name() === word);
  if (at !== undefined) return [...words, '--help'];
  const isKnown = program.commands.some((each) => each.name() === words[0]);
  return isKnown ? given : words.slice(0, 1);
}

/** A hint with the names of all subcommands if the error is about an unknown subcommand; otherwise ''. */
const subcommandHint = (error: string, { commands: below }: Command): string =>
  error.startsWith('error: unknown command')
    ? `(expected one of ${below.map((each) => each.name()).join(', ')})\n`
    : '';

/**
 * A hint with the subcommand that was probably meant, or ''. It is needed because commander reports `jobs canel ID`
 * only as too many arguments for `jobs`.
 */
function suggestionFor(error: string, program: Command): string {
  const [, name, first = ''] =
    /^error: too many arguments for '(.*)'\. .* but got \d+: ([^,]+),/.exec(error) ?? [];
  const below = program.commands.find((each) => each.name() === name)?.commands ?? [];
  const names = below.map((each) => each.name());
  const meant = nearestName(first, names);
  return meant === undefined ? '' : `(Did you mean ${meant}?)\n`;
}

/**
 * The families of commands by their headings, in the order of help. Help, completion, checks and
 * `docs/commands.md` are built from them.
 */
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

/** All commands, by the words that a user types. */
const commands: { readonly [Path in CommandPath]: DefinitionOf<Path> } = Object.assign(
  {},
  ...Object.values(families),
);

/**
 * The commands that have a handler. The type compares each handler with its definition: if their arguments differ,
 * this does not compile.
 */
const runnable: {
  readonly [Path in CommandPath as DefinitionOf<Path> extends { readonly load: unknown } ? Path : never]: {
    readonly load: () => Promise<{ readonly default: Run<Path> }>;
  };
} = commands;

/** The function that loads a command's handler; undefined for a command that only groups others. */
const handlerOf = (path: string) =>
  path in commands ? runnable[path as keyof typeof runnable].load : undefined;

/** Adds all commands to the program. Returns each with the words that a user types. */
const addCommands = (program: Command): readonly (readonly [path: string, added: Command])[] =>
  Object.entries<CommandFamily>(families).flatMap(([heading, family]) =>
    Object.entries(family).map(
      ([path, definition]) => [path, addCommand(program, path, definition, heading)] as const,
    ),
  );
