import { diffWordsWithSpace } from 'diff';
import { readable, shortened } from './shown.ts';

/**
 * A string of the platform: its direction is isolated, and invisible characters are shown. `max`: maximum characters.
 */
export function Text({ of, max }: { readonly of: string; readonly max?: number }) {
  const text = readable(of);
  const short = max === undefined ? text : shortened(text, max);
  return <bdi title={short === text ? undefined : text}>{short === '' ? '(no name)' : short}</bdi>;
}

/**
 * Maximum characters of both strings together for a diff. Longer ones would take seconds, so both are shown in full
 * instead.
 */
const MAX_DIFF_LENGTH = 20_000;

/**
 * The difference between two strings: deletions and insertions, marked by colour, by a line through or under them, and
 * by their elements.
 */
export function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  if (before.length + after.length > MAX_DIFF_LENGTH)
    return (
      <pre class="diff">
        <del>{readable(before)}</del>
        {'\n'}
        <ins>{readable(after)}</ins>
      </pre>
    );
  return (
    <pre class="diff">
      <bdi>
        {diffWordsWithSpace(before, after).map(({ value, added, removed }, index) => {
          const text = withLines(value);
          if (added) return <ins key={index}>{text}</ins>;
          return removed ? <del key={index}>{text}</del> : text;
        })}
      </bdi>
    </pre>
  );
}

/** Shows control characters as pictures, except line breaks and tabs. */
export const withLines = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(/[^\n\t]+/g, (part) => readable(part));
