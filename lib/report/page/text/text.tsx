import { diffWordsWithSpace } from 'diff';
import { readable, shortened } from './shown.ts';

/** A text of the platform: its direction is isolated, and invisible characters are shown. */
export function Text({ of, most }: { readonly of: string; readonly most?: number }) {
  const text = readable(of);
  const short = most === undefined ? text : shortened(text, most);
  return <bdi title={short === text ? undefined : text}>{short === '' ? '(no name)' : short}</bdi>;
}

/**
 * Maximum characters of both texts together for a diff: with more, it would take seconds, so both texts are
 * shown in full instead.
 */
const MAX = 20_000;

/**
 * The difference between two texts: deletions and insertions, marked by colour, by a line through or under
 * them, and by element.
 */
export function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  if (before.length + after.length > MAX)
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
