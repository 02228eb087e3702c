import type { Argument, Command } from 'commander';
import { sources } from '../../snapshot/sources/index.ts';
import { pathOf, type Run } from '../command.ts';

/** Prints a script that completes commands and options, built from the commands. */
export default (([shell], _, { out }, { parent }) => {
  if (parent !== null) out(shells[shell](placesOf(parent)));
  return 'done';
}) satisfies Run<'completion'>;

/**
 * What may be typed after the words that lead to a command; '' is the program itself. Each word has its
 * meaning. `takes`: it is an option with a value, which may be a file.
 */
type Place = {
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly means: string; readonly takes?: boolean }[];
};

/** All places of a program, the program itself first. */
function placesOf(command: Command): readonly Place[] {
  const below = command.commands.filter((each) => each.name() !== 'help');
  const options = command.options.filter(({ hidden, long }) => !hidden && long !== undefined);
  return [
    {
      path: pathOf(command),
      words: [
        ...below.map((each) => ({ word: each.name(), means: firstSentence(each.description()) })),
        ...valuesOf(command.registeredArguments).map((word) => ({ word, means: '' })),
        ...options.map(({ long = '', description, required }) => ({
          word: long ?? '',
          means: firstSentence(description),
          takes: required,
        })),
        { word: '--help', means: 'display help' },
      ],
    },
    ...below.flatMap(placesOf),
  ];
}

/** The possible values of the first argument, if it is one of a few words. */
function valuesOf([first]: readonly Argument[]): readonly string[] {
  if (first?.argChoices !== undefined) return first.argChoices;
  return first !== undefined && ['source', 'place'].includes(first.name()) ? sources : [];
}

/** The first sentence as one line, without characters that a shell would interpret. */
const firstSentence = (text: string) =>
  (text.split(/[.;:(]/, 1)[0] ?? '').replaceAll(/['’"`$\\[\]]/g, '').trim();

/** The completion for bash: a function that follows the words typed so far from place to place. */
function bashCompletion(places: readonly Place[]): string {
  const paths = places.map(({ path }) => path).filter((path) => path !== '');
  const taking = places.flatMap(({ path, words }) =>
    words.flatMap(({ word, takes }) => (takes ? [`'${path}:${word}'`] : [])),
  );
  return `# Completion of platform-sync for bash. In ~/.bashrc: eval "$(platform-sync completion bash)"
_platform_sync() {
  local word=\${COMP_WORDS[COMP_CWORD]} at='' values='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${at:+$at }\${COMP_WORDS[i]}" in
      ${paths.map((path) => `'${path}'`).join(' | ')}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at:\${COMP_WORDS[COMP_CWORD - 1]}" in
    ${taking.join(' | ')}) values='-' ;;
  esac
  if [[ $values != - ]]; then
    case "$at" in
${places.map(({ path, words }) => `      '${path}') values='${words.map(({ word }) => word).join(' ')}' ;;`).join('\n')}
    esac
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    [[ \${#COMPREPLY[@]} -gt 0 || $word == -* ]] && return
  fi
  COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _platform_sync platform-sync`;
}

/** The completion for zsh, which runs that of bash. */
const zshCompletion = (places: readonly Place[]): string => `#compdef platform-sync
# Completion of platform-sync for zsh. In ~/.zshrc, after compinit: source <(platform-sync completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(places)}`;

/** The completion for fish: one line for each word, with the place to which it belongs. */
function fishCompletion(places: readonly Place[]): string {
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
${places.flatMap(fishLines).join('\n')}`;
}

const fishLines = ({ path, words }: Place): readonly string[] =>
  words.map(({ word, means, takes }) => {
    const typed = word.startsWith('--') ? `-l ${word.slice(2)}${takes ? ' -r -F' : ' -f'}` : `-f -a ${word}`;
    return `complete -c platform-sync -n "__platform_sync_at '${path}'" ${typed}${means === '' ? '' : ` -d '${means}'`}`;
  });

/** The scripts by their shells. */
const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
