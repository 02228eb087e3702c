import type { Argument, Command, Option } from 'commander';
import { sources } from '../../snapshot/sources/sources.ts';
import { pathOf } from '../command.ts';
import type { Run } from '../commands.ts';
import { exitCodes } from '../terminal/terminal.ts';

/** Prints a script that completes commands and options, made of the commands as they are. */
export default (([shell], _, { out }, { parent }) => {
  if (parent !== null) out(shells[shell](placesOf(parent)));
  return exitCodes.done;
}) satisfies Run<'completion'>;

/** A word that may come next, and what it means. */
type Word = { readonly word: string; readonly means: string };

/** What may be typed after the words that lead to a command. */
type Place = {
  /** These words; '' for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
  /** What its first argument may be, if that is one of a few words. */
  readonly values: readonly string[];
  /** Options that are followed by a value, which may be a file. */
  readonly takeValues: readonly string[];
};

/** All places of a program, the program itself first. */
function placesOf(command: Command): readonly Place[] {
  const shown = command.commands.filter((each) => each.name() !== 'help');
  const options = command.options.filter(({ hidden, long }) => !hidden && long !== undefined);
  return [
    {
      path: pathOf(command),
      commands: shown.map((each) => ({ word: each.name(), means: firstSentence(each.description()) })),
      options: [...options.map(wordOf), { word: '--help', means: 'display help' }],
      values: valuesOf(command.registeredArguments),
      takeValues: options.filter(({ required }) => required).map(({ long }) => long ?? ''),
    },
    ...shown.flatMap(placesOf),
  ];
}

const wordOf = ({ long, description }: Option): Word => ({
  word: long ?? '',
  means: firstSentence(description),
});

function valuesOf([first]: readonly Argument[]): readonly string[] {
  if (first?.argChoices !== undefined) return first.argChoices;
  return first !== undefined && ['source', 'place'].includes(first.name()) ? sources : [];
}

/** All that may come next. */
const wordsOf = ({ commands, values, options }: Place): readonly string[] => [
  ...commands.map(({ word }) => word),
  ...values,
  ...options.map(({ word }) => word),
];

/** One line that no shell reads anything into. */
const firstSentence = (text: string) =>
  (text.split(/[.;:(]/, 1)[0] ?? '').replaceAll(/['’"`$\\[\]]/g, '').trim();

/** The completion of bash: a function that follows the words typed so far from place to place. */
function bashCompletion(places: readonly Place[]): string {
  const paths = places.map(({ path }) => path).filter((path) => path !== '');
  const withValues = places.filter(({ takeValues }) => takeValues.length > 0);
  return `# Completion of platform-sync for bash. In ~/.bashrc: eval "$(platform-sync completion bash)"
_platform_sync() {
  local word=\${COMP_WORDS[COMP_CWORD]} at='' values='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${at:+$at }\${COMP_WORDS[i]}" in
      ${paths.map((path) => `'${path}'`).join(' | ')}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at:\${COMP_WORDS[COMP_CWORD - 1]}" in
${withValues.map(({ path, takeValues }) => `    ${takeValues.map((option) => `'${path}:${option}'`).join(' | ')}) values='-' ;;`).join('\n')}
  esac
  if [[ $values != - ]]; then
    case "$at" in
${places.map((place) => `      '${place.path}') values='${wordsOf(place).join(' ')}' ;;`).join('\n')}
    esac
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    [[ \${#COMPREPLY[@]} -gt 0 || $word == -* ]] && return
  fi
  COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _platform_sync platform-sync`;
}

/** The completion of zsh: that of bash, by what zsh has for it. */
const zshCompletion = (places: readonly Place[]): string => `#compdef platform-sync
# Completion of platform-sync for zsh. In ~/.zshrc, after compinit: source <(platform-sync completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(places)}`;

/** The completion of fish: one line for each word, with the place that it belongs to. */
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

function fishLines({ path, commands, values, options, takeValues }: Place): readonly string[] {
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

/** The scripts by their shells. */
const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
