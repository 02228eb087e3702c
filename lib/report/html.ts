import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import * as z from 'zod/mini';
import { once } from '../base/index.ts';
import { parseOwnJson } from '../base/json/index.ts';
import type { ReportFacts } from './facts.ts';

/**
 * The report as one HTML file in UTF-8, which needs nothing besides. Its policy lets nothing in from outside: the one
 * script and the one style are named by their hashes. The facts are packed, so no text of the platform is in the markup.
 */
export async function printPage(facts: ReportFacts): Promise<Buffer> {
  const { script, style } = await pageCode();
  const packed = await pack(Buffer.from(JSON.stringify(facts)), { level: 9 });
  return Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyFor(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Platform report</title>
<link rel="icon" href="${ICON}">
<style>${style}</style>
</head>
<body>
<div id="page"><p class="opening">Opening the report…</p></div>
<noscript>This page needs its script. Its figures without: platform-sync report --json</noscript>
<script type="application/octet-stream" id="facts">${packed.toString('base64')}</script>
<script>${script}</script>
</body>
</html>
`);
}

const pack = promisify(deflateRaw);

/** Empty: a browser would ask the server for one otherwise. */
const ICON = 'data:,';

const policyFor = (script: string, style: string): string =>
  [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

const codeSchema = z.object({ script: z.string(), style: z.string() });

/** What the browser runs, and how the page looks. */
export type PageCode = z.infer<typeof codeSchema>;

/** The file that holds it in the package and beside a deployed function; `build/write-page.ts` writes it. */
export const PAGE_FILE = 'report-page.json';

/** The page's code: read once in a process where it was built, bundled from its sources in a checkout. */
const pageCode: () => Promise<PageCode> = once(async () => {
  const built = join(import.meta.dirname, PAGE_FILE);
  if (existsSync(built)) return z.parse(codeSchema, parseOwnJson(await readFile(built, 'utf8')));
  const { bundlePage }: Bundler = await import(BUNDLER);
  return await bundlePage();
});

/** Only in a checkout: as a text, so that neither the package nor a function's bundle takes it along. */
const BUNDLER = '../../build/bundle-page.ts';

type Bundler = { readonly bundlePage: () => Promise<PageCode> };
