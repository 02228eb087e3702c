import { basename, dirname } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';
import { bundlePlugins, pendingIn } from './bundle-plugins.ts';

/**
 * The bundle and source maps of a handler. What esbuild shakes out may import much: it is bundled again and again, each
 * time with the imports that the bundle before still had, until it has none that are left out.
 */
export async function bundled(file: string) {
  const needed = new Set<string>();
  for (;;) {
    const made = await build({
      ...bundleOptions,
      // Always: the maps are part of what the files are named after.
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
