import { quoted } from '../../base/index.ts';
import { type Place, splitPlace } from '../../snapshot/sources/index.ts';

/**
 * A command line to type: what follows `platform-sync`, and its options by name, each word quoted. An
 * option's value is a list if it is repeated, true for a switch, and undefined if it is absent.
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

/**
 * The `snapshot` command for a place: for a new run, to which the reader adds the selection, or with `resume`
 * for the rest of a run.
 */
export function snapshotCommand(place: Place, resume?: string): string {
  const { source, name } = splitPlace(place);
  return commandLine(['snapshot', source], { as: name, resume });
}
