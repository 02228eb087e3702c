import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import * as z from 'zod/mini';
import { once } from '../base/index.ts';
import { parseOwnJson } from '../base/json/index.ts';
import { flagBits } from '../model/rules/index.ts';
import { printStored, type Store } from '../store/index.ts';
import { collectFacts } from './collect/collect-facts.ts';
import type { Prices } from './collect/month-cost.ts';
import { calculationFlags, cardFlags, MAX_LISTED, type PlatformLinks, type ReportFacts } from './facts.ts';
import { REPORT_KEY, REPORT_PAGE_KEY, type StoredReport } from './stored-report.ts';

type ReportToWrite = {
  readonly store: Store;
  /** Lists the operations that the platform throttles individually, in words. Default: none. */
  readonly throttled?: (() => Promise<readonly string[]>) | undefined;
  /** The addresses of things in the platform. Default: no links. */
  readonly links?: PlatformLinks | undefined;
  /** The price of each call. Default: no cost is shown. */
  readonly prices?: Prices | undefined;
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
  /** Whether `store` and `now` show an earlier moment instead of the current one. Default: false. */
  readonly isPast?: boolean | undefined;
  readonly signal: AbortSignal;
};

/** Collects what the report shows. Returns its page (HTML in UTF-8), the facts, and its figures for `--json`. */
export async function printReport(options: ReportToWrite) {
  const facts = await collectFacts(options);
  return { page: await printPage(facts), facts, figures: figuresOf(facts) };
}

/**
 * Writes the report into the store: first the page, then the object that records which runs the page shows (`runs`, by
 * place). Returns the report's faults.
 */
export async function writeReport(
  options: ReportToWrite & Pick<StoredReport, 'runs'>,
): Promise<readonly string[]> {
  const { store, signal, runs } = options;
  const facts = await collectFacts(options);
  const page = await printPage(facts);
  const report: StoredReport = { version: 1, writtenAt: facts.writtenAt, runs };
  await store.put(REPORT_PAGE_KEY, page, { contentType: 'text/html; charset=utf-8', signal });
  await store.put(REPORT_KEY, printStored(report), { contentType: 'application/json', signal });
  return facts.faults;
}

/**
 * Prints the report as one self-contained HTML file in UTF-8. Its security policy allows only its own script and style,
 * by their hashes, and nothing from outside. The facts are compressed, so no string of the platform appears in the
 * markup.
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
<noscript>This page needs JavaScript. To see its figures without it: platform-sync report --json</noscript>
<script type="application/octet-stream" id="facts">${packed.toString('base64')}</script>
<script>${script}</script>
</body>
</html>
`);
}

const pack = promisify(deflateRaw);

/** The icon is empty, so that a browser does not request one from the server. */
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

type PageCode = z.infer<typeof codeSchema>;

/** The file with the page's code. It is in the package, and next to a deployed function's code. */
const CODE_FILE = join(import.meta.dirname, 'report-page.json');

/** The page's code, read once in a process. In a checkout, which has no such file, it is bundled from its sources. */
const pageCode: () => Promise<PageCode> = once(async () => {
  if (existsSync(CODE_FILE)) return z.parse(codeSchema, parseOwnJson(await readFile(CODE_FILE, 'utf8')));
  const { bundlePage }: { readonly bundlePage: () => Promise<PageCode> } = await import(BUNDLER);
  return await bundlePage();
});

/** The path is a variable, so that bundlers do not include a file that only a checkout has. */
const BUNDLER = '../../build/bundle-page.ts';

/** Writes the page's code into a folder, from which `printReport` reads it. */
export const savePageCode = (folder: string, code: PageCode): Promise<void> =>
  writeFile(join(folder, basename(CODE_FILE)), JSON.stringify(code));

/** The flags whose figures are printed. For each of these flags, the first calculations that have it are listed. */
const { locked, archived, oldest } = calculationFlags;
const figuresOfCalculations = { ...flagBits, locked, archived, oldest };

type Flagged<F extends string> = {
  readonly flags: Readonly<Record<F, number>>;
  readonly list: { readonly columns: { readonly id: readonly string[]; readonly flags: readonly number[] } };
};

/**
 * The figures of the report, for `--json`; null for sources that are not published. Datasets and owners have the names
 * of the SQL columns.
 */
export function figuresOf(facts: ReportFacts) {
  const { model, calculations, cards, datasets, owners, files, dataFiles, jobs } = facts;
  return {
    as_of: new Date(model.asOfMs).toISOString(),
    as_of_runs: model.runs,
    model_history: facts.days,
    calculations: calculations
      ? { total: calculations.total, ...flagFigures(calculations, figuresOfCalculations) }
      : null,
    cards: cards ? { total: cards.total, ...flagFigures(cards, cardFlags) } : null,
    datasets: rowsOf(datasets?.list.columns).map(({ id, ...counts }) => ({ dataset_id: id, ...counts })),
    datasets_total: datasets?.total ?? 0,
    owners: rowsOf(owners?.list.columns).map(({ id, name, ...counts }) => ({
      user_id: id,
      name: name || null,
      ...counts,
    })),
    owners_total: owners?.total ?? 0,
    files: files ? { total: files.total, bytes: files.bytes, filesets: files.filesets } : null,
    data_files: dataFiles ? { total: dataFiles.total } : null,
    jobs: jobs.types,
    cost: facts.cost,
  };
}

/** How many things have each flag, and the ids of the first `MAX_LISTED` of them. */
function flagFigures<F extends string>(
  { flags, list: { columns } }: Flagged<NoInfer<F>>,
  bits: Readonly<Record<F, number>>,
) {
  const idsOf = (bit: number) =>
    columns.id.filter((_, row) => ((columns.flags[row] ?? 0) & bit) !== 0).slice(0, MAX_LISTED);
  const names = Object.keys(bits) as F[];
  const figures = names.map((name) => [name, { count: flags[name], ids: idsOf(bits[name]) }] as const);
  return Object.fromEntries(figures) as Record<F, (typeof figures)[number][1]>;
}

type RowOf<C> = { readonly [Name in keyof C]: C[Name] extends readonly (infer Value)[] ? Value : never };

const rowsOf = <C extends { readonly id: readonly string[] }>(columns: C | undefined): readonly RowOf<C>[] =>
  (columns?.id ?? []).map((_, row) => {
    const cells = Object.entries(columns ?? {}).map(([name, values]) => [name, values[row]]);
    return Object.fromEntries(cells) as RowOf<C>;
  });
