import type { Place, Word } from './words.ts';

/** The scripts by their shells. */
export const shells = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Readonly<Record<string, (places: readonly Place[]) => string>>;

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
${places.map((place) => `      '${place.path}') values='${bashWords(place).join(' ')}' ;;`).join('\n')}
    esac
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    [[ \${#COMPREPLY[@]} -gt 0 || $word == -* ]] && return
  fi
  COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _platform_sync platform-sync`;
}

const bashWords = ({ commands, values, options }: Place): readonly string[] => [
  ...commands.map(({ word }) => word),
  ...values,
  ...options.map(({ word }) => word),
];

/** The completion of zsh: as that of bash, with what each word means. */
function zshCompletion(places: readonly Place[]): string {
  const paths = places.map(({ path }) => path).filter((path) => path !== '');
  return `#compdef platform-sync
# Completion of platform-sync for zsh. In ~/.zshrc, after compinit: source <(platform-sync completion zsh)
_platform_sync() {
  local at='' each
  local -a found
  for each in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$each" in
      ${paths
        .map((path) => `'${path}'`)
        .join(' | ')
        .replaceAll("'", '"')}) at="\${at:+$at }$each" ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${places
  .filter(({ takeValues }) => takeValues.length > 0)
  .map(
    ({ path, takeValues }) =>
      `    ${takeValues.map((option) => `"${path}:${option}"`).join(' | ')}) _files; return ;;`,
  )
  .join('\n')}
  esac
  case "$at" in
${places.map((place) => `    "${place.path}") found=(${zshWords(place).map(described).join(' ')}) ;;`).join('\n')}
  esac
  _describe platform-sync found || _files
}
(( $+functions[compdef] )) && compdef _platform_sync platform-sync`;
}

const zshWords = ({ commands, values, options }: Place): readonly Word[] => [
  ...commands,
  ...values.map((word) => ({ word, means: '' })),
  ...options,
];

const described = ({ word, means }: Word) => `'${word}${means === '' ? '' : `:${means}`}'`;

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
