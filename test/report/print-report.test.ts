import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { flagMeanings } from '../../lib/model/rules/flags.ts';
import { printPage } from '../../lib/report/print-report.ts';
import { makeFacts } from './make-facts.ts';

const facts = await makeFacts({ calculations: 60, cards: 20, datasets: 5 });
const html = (await printPage(facts)).toString();

const between = (start: string, end: string): string =>
  html.slice(html.indexOf(start) + start.length, html.indexOf(end, html.indexOf(start)));

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

test('the page contains the facts of the report unchanged', () => {
  const packed = between('id="facts">', '</script>');

  expect(JSON.parse(inflateRawSync(Buffer.from(packed, 'base64')).toString())).toEqual(facts);
});

test('the page’s security policy allows its one script and its one style by their hashes, and nothing from outside', () => {
  const script = html.slice(html.lastIndexOf('<script>') + 8, html.lastIndexOf('</script>'));
  const style = between('<style>', '</style>');
  const policy = between('Content-Security-Policy" content="', '">');

  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ]);
});

test('no text in the page can end its script or begin another script', () => {
  expect(html.match(/<script/gi)).toHaveLength(2);
  expect(html.match(/<\/script/gi)).toHaveLength(2);
  expect(html).not.toContain('<!--');
});

test('the page names the authors and licences of the packages that it contains', () => {
  expect(html).toMatch(/preact 11\.2\.0, Copyright/);
  expect(html).toMatch(/@observablehq\/plot 0\.6\.17, Copyright/);
  expect(html).toContain('Permission to use, copy, modify, and/or distribute this software');
});

test('docs/report.md describes each flag in the same words as the page', () => {
  const docs = readFileSync('docs/report.md', 'utf8');

  for (const meaning of Object.values(flagMeanings)) expect(docs).toContain(`| ${meaning} |`);
});
