import { diffWordsWithSpace } from 'diff';
import { readable } from './shown.ts';

/** Beyond so many characters in all a diff would take seconds: both texts are shown whole instead. */
const MOST = 20_000;

/** What became of a text, as marks of what went and what came: by colour, by a line through or under, and by name. */
export function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  if (before.length + after.length > MOST)
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
