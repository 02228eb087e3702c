import type { Place } from './words.ts';

/** The completion of fish: one line for each word, with the place that it belongs to. */
export function fishCompletion(places: readonly Place[]): string {
  const paths = places.map(({ path }) => path).filter((path) => path !== '');
  return `# Completion of platform-sync for fish. platform-sync completion fish > ~/.config/fish/completions/platform-sync.fish
function __platform_sync_at
    set -l at ''
    for each in (commandline -opc)[2..]
        set -l next (string trim "$at $each")
        if contains -- "$next" ${paths.map((path) => `'${path}'`).join(' ')}
            set at "$next"
        end
    end
    test "$at" = "$argv"
end
${places.flatMap(linesOf).join('\n')}`;
}

function linesOf({ path, commands, values, options, takeValues }: Place): readonly string[] {
  const begin = `complete -c platform-sync -n "__platform_sync_at '${path}'"`;
  const means = (text: string) => (text === '' ? '' : ` -d '${text}'`);
  return [
    ...commands.map(({ word, means: text }) => `${begin} -f -a ${word}${means(text)}`),
    ...values.map((word) => `${begin} -f -a ${word}`),
    ...options.map(
      ({ word, means: text }) =>
        `${begin} -l ${word.slice(2)}${takeValues.includes(word) ? ' -r -F' : ' -f'}${means(text)}`,
    ),
  ];
}
