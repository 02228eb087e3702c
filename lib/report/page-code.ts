import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { once, parseOwnJson } from '../base/index.ts';

/** What the browser runs, and how the page looks. */
export type PageCode = { readonly script: string; readonly style: string };

/** The file that holds it in the package and beside a deployed function; `build/write-page.ts` writes it. */
export const PAGE_FILE = 'report-page.json';

/** The page's code: read once in a process where it was built, bundled from its sources in a checkout. */
export const pageCode: () => Promise<PageCode> = once(async () => {
  const built = join(import.meta.dirname, PAGE_FILE);
  if (existsSync(built)) return z.parse(codeSchema, parseOwnJson(await readFile(built, 'utf8')));
  const { bundlePage }: Bundler = await import(BUNDLER);
  return await bundlePage();
});

const codeSchema = z.object({ script: z.string(), style: z.string() }) satisfies z.ZodMiniType<PageCode>;

/** Only in a checkout: as a text, so that neither the package nor a function's bundle takes it along. */
const BUNDLER = '../../build/bundle-page.ts';

type Bundler = { readonly bundlePage: () => Promise<PageCode> };
