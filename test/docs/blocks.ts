import { globSync, readFileSync } from 'node:fs';

/** A fenced block of a page. */
export type Block = {
  /** The position where it begins: `docs/recipes.md:12`. */
  readonly at: string;
  readonly page: string;
  /** The first word of its fence. */
  readonly language: string;
  /** The rest of the fence's first line. */
  readonly words: string;
  readonly text: string;
  /** The name in a comment `<!-- test: NAME -->` just above the block: a separate test runs it. */
  readonly test: string | undefined;
};

const FENCE = /(?:<!-- test: (?<test>[\w-]+) -->\n)?^```(?<info>.*)\n(?<text>[\s\S]*?)^```$/gm;

/** All pages that users read, beginning with README.md. */
export const pages: readonly string[] = [
  'README.md',
  ...globSync('docs/*.md').toSorted(),
  'infra/RUNBOOK.md',
].filter((page) => page !== 'docs/changelog.md');

export const textOf = (page: string): string => readFileSync(page, 'utf8');

/** The fenced blocks of all pages, in their order. */
export const blocks: readonly Block[] = pages.flatMap((page) => blocksOf(page, textOf(page)));

/** The fenced blocks of a text. */
export function blocksOf(page: string, source: string): readonly Block[] {
  return [...source.matchAll(FENCE)].map(({ groups, index }) => {
    const { info = '', text = '', test } = groups ?? {};
    const [, language = '', words = ''] = /^(\S*)\s*(.*)$/.exec(info) ?? [];
    const line = source.slice(0, index).split('\n').length;
    return { at: `${page}:${line}`, page, language, words, text, test };
  });
}
