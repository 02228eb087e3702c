import { quoted } from '../../base/index.ts';
import type { Environment } from '../../settings.ts';
import { type Place, partsOf } from '../../snapshot/sources/index.ts';
import type { SettingsFlags } from './settings-file.ts';

/**
 * A command line to type: what follows `platform-sync`, and its options by name, each word quoted. An option is a list if
 * it is repeated, true for a switch, undefined if absent.
 */
export function commandLine(
  words: readonly string[],
  options: Readonly<Record<string, string | number | true | readonly string[] | undefined>> = {},
): string {
  const typed = Object.entries(options).flatMap(([key, value]) => {
    const name = `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (value === undefined) return [];
    return value === true ? [name] : [value].flat().flatMap((each) => [name, quoted(String(each))]);
  });
  return ['platform-sync', ...words.map(quoted), ...typed].join(' ');
}

/** `snapshot` for a place: a new run, to which the reader adds the selection, or with `resume` the rest of one. */
export function snapshotCommand(place: Place, resume?: string): string {
  const { source, name } = partsOf(place);
  return commandLine(['snapshot', source], { as: name, resume });
}

/** Publishes a run although it was refused. */
export const publishCommand = (place: string, run: string): string =>
  commandLine(['publish', place, run], { force: true });

/**
 * Begins the command lines in hints as this one was started, by npx and with its settings file, so that they can be
 * pasted as they are.
 */
export function pasted(
  environment: Environment,
  { envFile, profile }: SettingsFlags,
): (hint: string) => string {
  const program = environment['npm_command'] === 'exec' ? ['npx', 'platform-sync'] : ['platform-sync'];
  const settings =
    envFile === undefined ? (profile === undefined ? [] : ['--profile', profile]) : ['--env-file', envFile];
  const start = [...program, ...settings].map(quoted).join(' ');
  return (hint) => hint.replaceAll(COMMAND_LINE, `${start.replaceAll('$', '$$$$')} `);
}

/** A line to paste, which a command follows; `platform-sync: ` begins messages instead. */
const COMMAND_LINE = /(?<![\w./-])(?:npx )?platform-sync (?=[a-z]+(?:-[a-z]+)*(?![\w/.:]))/g;
