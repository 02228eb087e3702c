import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { buildSync } from 'esbuild';
import { bundleOptions, root } from './bundle-options.ts';

/** The file of a deployed function, by the name of its folder. */
const handlerFile = (name: string) => join(root, 'functions', name, 'handler.ts');

/** What Lambda calls in a bundle, whose file is `index.mjs`. */
export const HANDLER = 'index.handler';

/**
 * The code of a function: all that it uses, including the SDK's clients, and nothing else. What is imported only when
 * needed is a file of its own beside `index.mjs`: otherwise esbuild would not leave out its unused parts.
 */
export function bundled(name: string): Code {
  const file = handlerFile(name);
  if (!existsSync(file)) throw new Error(`functions/${name}: expected handler.ts, got no such file`);
  return Code.fromAsset(dirname(file), {
    // By the bundle's bytes: its sources are not all in this folder.
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // Never pulled: bundling here always succeeds or throws.
      image: DockerImage.fromRegistry('none'),
      local: {
        tryBundle(folder) {
          for (const [path, bytes] of Object.entries(bundleOf(name)))
            writeFileSync(join(folder, path), bytes);
          return true;
        },
      },
    },
  });
}

/** The bytes of each file by its name. */
export type Bundle = Readonly<Record<string, Uint8Array>>;

const bundles = new Map<string, Bundle>();

/** The same for the same sources. Made once in a process, for any number of stacks. */
export function bundleOf(name: string): Bundle {
  const made = bundles.get(name) ?? bundle(handlerFile(name));
  bundles.set(name, made);
  return made;
}

function bundle(file: string): Bundle {
  const { outputFiles } = buildSync({ ...bundleOptions, entryPoints: { index: file } });
  return Object.fromEntries(outputFiles.map(({ path, contents }) => [basename(path), contents]));
}
