import { basename, dirname } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';
import { bundlePlugins, pendingIn } from './bundle-plugins.ts';

/**
 * Bundles a handler, with its source maps. A dynamic import is bundled only if tree shaking leaves it in the output. So
 * the first bundle has none of them; then those that the output still contains are added, until none is pending.
 */
export async function bundleHandler(file: string) {
  const needed = new Set<string>();
  for (;;) {
    const result = await build({
      ...bundleOptions,
      // Always the same value, since the hashes in the files' names depend on it.
      sourcemap: 'external',
      sourcesContent: false,
      metafile: true,
      entryPoints: { index: file },
      plugins: bundlePlugins(basename(dirname(file)), needed),
    });
    const code = result.outputFiles.filter(({ path }) => !path.endsWith('.map'));
    const pending = code.flatMap(({ text }) => pendingIn(text));
    if (pending.length === 0) return result;
    for (const path of pending) needed.add(path);
  }
}
