import type { Place, Word } from './words.ts';

/** The completion of zsh: as that of bash, with what each word means. */
export function zshCompletion(places: readonly Place[]): string {
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
${places.map((place) => `    "${place.path}") found=(${wordsOf(place).map(described).join(' ')}) ;;`).join('\n')}
  esac
  _describe platform-sync found || _files
}
(( $+functions[compdef] )) && compdef _platform_sync platform-sync`;
}

const wordsOf = ({ commands, values, options }: Place): readonly Word[] => [
  ...commands,
  ...values.map((word) => ({ word, means: '' })),
  ...options,
];

const described = ({ word, means }: Word) => `'${word}${means === '' ? '' : `:${means}`}'`;
