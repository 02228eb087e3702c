import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { pages, textOf } from './blocks.ts';

/** A link to a file of the project: its page, its target file, and its target heading. */
type Link = { readonly page: string; readonly to: string; readonly heading: string | undefined };

/** The text of a page without fenced blocks. */
const proseOf = (page: string) => textOf(page).replaceAll(/^```[\s\S]*?^```$/gm, '');

const links: readonly Link[] = [...pages, 'docs/changelog.md'].flatMap((page) =>
  [...proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
    ([, path = '', heading]) => ({
      page,
      to: path === '' ? page : normalize(join(dirname(page), path)),
      heading,
    }),
  ),
);

/** The names that GitHub gives to the headings of a page. */
const headingsOf = (page: string): readonly string[] =>
  [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/\]\([^)]*\)/g, '')
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every link leads to an existing file and heading', () => {
  const isDead = ({ to, heading }: Link) =>
    !existsSync(to) || (heading !== undefined && !headingsOf(to).includes(heading));

  expect(links.length).toBeGreaterThan(50);
  expect(
    links.filter(isDead).map(({ page, to, heading }) => `${page}: ${to}${heading ? `#${heading}` : ''}`),
  ).toEqual([]);
});

test('every page is in the list of docs/README.md', () => {
  const named = links.filter(({ page }) => page === 'docs/README.md').map(({ to }) => to);

  expect(named.length).toBeGreaterThan(20);
  expect(
    pages.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md' && !named.includes(page)),
  ).toEqual([]);
});

test('no page contains the markers of an unfinished merge', () => {
  const marked = [...pages, 'docs/changelog.md'].filter((page) => /^(?:<{7}|={7}|>{7})/m.test(textOf(page)));

  expect(marked).toEqual([]);
});

test('README has at most 8 KB, and shows the two commands to begin with', () => {
  const text = textOf('README.md');

  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_192);
  expect(text).toContain('npm ci && npm start');
  expect(text).toContain('npm ci && npm test');
});
