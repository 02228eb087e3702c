import { expect, test } from 'vitest';
import { pages, textOf } from './blocks.ts';

const glossary = textOf('docs/glossary.md');
const lines = glossary.split('\n').filter((line) => line.startsWith('- '));

test('the glossary has at most 60 terms, each in one line', () => {
  expect(lines.length).toBeLessThanOrEqual(60);
  expect(lines.filter((line) => !/^- \*\*[^*]+\*\*: /.test(line))).toEqual([]);
});

/** Terms that a reader cannot guess. The first use of each on a page must link to the glossary. */
const LINKED = [
  ...['ledger', 'fence', 'lease', 'redrive', 'visibility timeout', 'score cache', 'dead-letter queue'],
  ...['checkpoint', 'manifest', 'gate', 'slot', 'breaker', 'fleet', 'drill'],
];

const blank = (text: string) => text.replaceAll(/[^\n]/g, ' ');

/** A page without code and headings, in which the remaining characters keep their positions. */
const proseOf = (page: string) =>
  textOf(page)
    .replaceAll(/^```[\s\S]*?^```$/gm, blank)
    .replaceAll(/`[^`\n]*`|^#.*$|<[^>\n]*>|!\[[^\]]*\]\([^)]*\)/gm, blank);

/** The terms whose first use on a page is not in a link. */
function unlinkedOn(prose: string): readonly string[] {
  const links = [...prose.matchAll(/\[[^\]]*\]\([^)]*\)/g)];
  return LINKED.filter((term) => {
    const first = new RegExp(`(?<![\\w/-])${term}s?(?![\\w-])`, 'i').exec(prose);
    return (
      first !== null &&
      !links.some(({ index, 0: { length } }) => index <= first.index && first.index < index + length)
    );
  });
}

test('the first use of a difficult term on a page links to the glossary', () => {
  const written = pages.filter(
    (page) =>
      (page === 'README.md' || page.startsWith('docs/')) &&
      !['docs/glossary.md', 'docs/README.md'].includes(page) &&
      !textOf(page).startsWith('<!-- generated'),
  );

  expect(written.length).toBeGreaterThan(30);
  expect(
    written.flatMap((page) =>
      unlinkedOn(proseOf(page)).map((term) => `${page}: link [${term}](glossary.md)`),
    ),
  ).toEqual([]);
  expect(LINKED.filter((term) => !glossary.includes(term))).toEqual([]);
});

test('the check of terms finds a term whose first use has no link', () => {
  expect(unlinkedOn('The ledger. The [ledger](glossary.md#jobs), a [fence](glossary.md#jobs).')).toEqual([
    'ledger',
  ]);
});
