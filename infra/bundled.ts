import { basename, dirname } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';
import { bundlePlugins, pendingIn } from './bundle-plugins.ts';

/**
 * Bundles a handler, with its source maps. Removed code may have imports of its own, so bundling is repeated
 * with the imports that the last bundle still had, until none of them is left out.
 */
export async function bundled(file: string) {
  const needed = new Set<string>();
  for (;;) {
    const made = await build({
      ...bundleOptions,
      // Always external, since the names of the files depend on the maps.
      sourcemap: 'external',
      sourcesContent: false,
      metafile: true,
      entryPoints: { index: file },
      plugins: bundlePlugins(basename(dirname(file)), needed),
    });
    const code = made.outputFiles.filter(({ path }) => !path.endsWith('.map'));
    const found = code.flatMap(({ text }) => pendingIn(text));
    if (found.length === 0) return made;
    for (const path of found) needed.add(path);
  }
}
