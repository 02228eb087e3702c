import { diffWordsWithSpace } from 'diff';
import { readable, shortened } from './shown.ts';

/** A text of the platform: its direction is its own, and what is invisible in it is shown. */
export function Text({ of, most }: { readonly of: string; readonly most?: number }) {
  const text = readable(of);
  const short = most === undefined ? text : shortened(text, most);
  return <bdi title={short === text ? undefined : text}>{short === '' ? '(no name)' : short}</bdi>;
}

/** Beyond so many characters in all a diff would take seconds: both texts are shown whole instead. */
const MAX = 20_000;

/** How one text became another, as marks of what went and what came: by colour, by a line through or under, and by name. */
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

/** Control characters as pictures, but lines and tabs as they are. */
const withLines = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(/[^\n\t]+/g, (part) => readable(part));
