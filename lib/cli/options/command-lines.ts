import { quoted } from '../../base/index.ts';
import { type Place, splitPlace } from '../../snapshot/sources/index.ts';

/**
 * A command line to type. `words`: the command and its arguments. `options`: by name in camel case; a list for a repeated
 * option, true for a switch, undefined for an absent option.
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

/** The `snapshot` command for a place, without the selection of a new run. `resume`: the run to resume. */
export function snapshotCommand(place: Place, resume?: string): string {
  const { source, name } = splitPlace(place);
  return commandLine(['snapshot', source], { as: name, resume });
}
