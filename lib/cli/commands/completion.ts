import type { Argument, Command } from 'commander';
import { sources } from '../../snapshot/sources/index.ts';
import { pathOf, type Run } from '../command.ts';

/** Prints a script that completes commands and options. It is built from the definitions of the commands. */
export default (([shell], _, { out }, { parent }) => {
  if (parent !== null) out(shells[shell](completedOf(parent)));
  return 'done';
}) satisfies Run<'completion'>;

/**
 * A command, and the words that may follow it. `path`: the words that lead to the command; '' is the program itself.
 * `means`: the description of a word. `takes`: the word is an option with a value, which may be a file.
 */
type Completed = {
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly means: string; readonly takes?: boolean }[];
};

/** The program and all of its commands, the program first. */
function completedOf(command: Command): readonly Completed[] {
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
        { word: '--help', means: 'print the help' },
      ],
    },
    ...below.flatMap(completedOf),
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

/** The completion for bash: a function that finds the command from the words typed so far. */
function bashCompletion(commands: readonly Completed[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== '');
  const taking = commands.flatMap(({ path, words }) =>
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
${commands.map(({ path, words }) => `      '${path}') values='${words.map(({ word }) => word).join(' ')}' ;;`).join('\n')}
    esac
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    [[ \${#COMPREPLY[@]} -gt 0 || $word == -* ]] && return
  fi
  COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _platform_sync platform-sync`;
}

/** The completion for zsh, which runs the script for bash. */
const zshCompletion = (commands: readonly Completed[]): string => `#compdef platform-sync
# Completion of platform-sync for zsh. In ~/.zshrc, after compinit: source <(platform-sync completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(commands)}`;

/** The completion for fish: one line for each word, with the command that it follows. */
function fishCompletion(commands: readonly Completed[]): string {
  const paths = commands.map(({ path }) => path).filter((path) => path !== '');
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
${commands.flatMap(fishLines).join('\n')}`;
}

const fishLines = ({ path, words }: Completed): readonly string[] =>
  words.map(({ word, means, takes }) => {
    const typed = word.startsWith('--') ? `-l ${word.slice(2)}${takes ? ' -r -F' : ' -f'}` : `-f -a ${word}`;
    return `complete -c platform-sync -n "__platform_sync_at '${path}'" ${typed}${means === '' ? '' : ` -d '${means}'`}`;
  });

/** The functions that write the scripts, by shell. */
const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
