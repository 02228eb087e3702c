import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import * as z from 'zod/mini';
import { parseOwnJson } from '../lib/base/json/index.ts';

const MAIN = join(import.meta.dirname, '..', 'lib', 'report', 'page', 'main.tsx');

/**
 * Bundles the script and the style of the report page from their sources. Throws if esbuild is not installed (only a
 * checkout has it), or if a source does not compile.
 */
export async function bundlePage(): Promise<{ readonly script: string; readonly style: string }> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: [MAIN],
    bundle: true,
    write: false,
    outdir: dirname(MAIN),
    platform: 'browser',
    target: ['es2022'],
    format: 'iife',
    minify: true,
    // With 'ascii', esbuild would write each non-ASCII character as an escape of six characters.
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [withoutStyleElements],
    logLevel: 'silent',
  });
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  const script = `/*\n${noticesOf(Object.keys(metafile.inputs))}\n*/\n${textOf('.js')}`;
  return { script: withoutMarkup(script), style: textOf('.css') };
}

/**
 * Escapes `<!--`, `<script` and `</script`, which would begin a comment or end the script element. In the script
 * they occur only within strings.
 */
const withoutMarkup = (script: string): string => script.replaceAll(/<(?=!--|\/?script)/gi, String.raw`\x3C`);

/**
 * Removes the style element that a chart would add: the page's security policy refuses it, and `page.css` has its
 * rules.
 */
const withoutStyleElements: Plugin = {
  name: 'without style elements',
  setup(build) {
    build.onLoad({ filter: /@observablehq\/plot\/src\/plot\.js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const contents = source.replace(STYLE, '');
      if (contents === source) throw new Error(`expected a style element in ${path}`);
      return { contents, loader: 'js' };
    });
  },
};

const STYLE = /\.call\(\(svg\) =>\s*(?:\/\/.*\n\s*)?svg\.append\("style"\)\.text\(\s*`[^`]*`\s*\)\s*\)/;

/** The copyright notices of the packages in the bundle, and the text of each licence once, as the licences require. */
function noticesOf(inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const texts = new Map<string, string[]>();
  for (const folder of [...folders].sort()) {
    const { notice, terms } = licenceIn(folder);
    texts.set(terms, [...(texts.get(terms) ?? []), notice]);
  }
  return [...texts]
    .map(([terms, notices]) => `${notices.join('\n')}\n\n${terms}`)
    .join('\n\n')
    .replaceAll('*/', '* /');
}

/** `notice`: a package's name, version and copyright holders. `terms`: the rest of its licence, in one line. */
function licenceIn(folder: string): { readonly notice: string; readonly terms: string } {
  const stated = parseOwnJson(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, version } = z.parse(z.object({ name: z.string(), version: z.string() }), stated);
  const lines = readFileSync(join(folder, 'LICENSE'), 'utf8')
    .split('\n')
    .map((line) => line.trim());
  const isHolder = (line: string) => /^Copyright /i.test(line);
  const terms = lines.filter((line) => line !== '' && !isHolder(line) && !TITLE.test(line)).join(' ');
  return { notice: [`${name} ${version}`, ...lines.filter(isHolder)].join(', '), terms };
}

const TITLE = /^(?:The )?(?:MIT|ISC|BSD 3-Clause) License(?: \(MIT\))?$/i;
