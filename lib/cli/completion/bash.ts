import type { Place } from './words.ts';

/** The completion of bash: a function that follows the words typed so far from place to place. */
export function bashCompletion(places: readonly Place[]): string {
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

const wordsOf = ({ commands, values, options }: Place): readonly string[] => [
  ...commands.map(({ word }) => word),
  ...values,
  ...options.map(({ word }) => word),
];
