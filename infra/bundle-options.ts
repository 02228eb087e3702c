import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

/** The project's folder. Paths of handlers start here, wherever the command runs. */
export const root = join(import.meta.dirname, '..');

/** Defines `require`, by which CommonJS packages load Node's own modules, since an ES module has none. */
const REQUIRE = 'const require=process.getBuiltinModule;';

/** How the code of a function is bundled, for every entry point. Nothing is written. */
export const bundleOptions = {
  absWorkingDir: root,
  outdir: join(root, 'bundle'),
  outExtension: { '.js': '.mjs' },
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  write: false,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  minify: true,
  sourcemap: false,
  legalComments: 'none',
  alias: {
    // The replaced package reads profiles, single sign-on and STS, which no function uses.
    '@aws-sdk/credential-provider-node': join(root, 'functions', 'environment-credentials.ts'),
    // The SDK uses it only in browsers, but tree shaking keeps its 34 KB.
    bowser: 'node:os',
    // It is used by the locks of directory stores (11 KB). The deployed store is in S3, which needs no locks.
    'graceful-fs': 'node:fs',
  },
  banner: { js: REQUIRE },
} as const satisfies BuildOptions;
