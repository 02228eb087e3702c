import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { root } from './bundle-options.ts';

/**
 * The folder that has a folder for each deployed function, with its sources (in a checkout) or its bundle (packaged).
 */
const FUNCTIONS = join(root, 'functions');

/** The source of a deployed function. */
const handlerFile = (name: string, folder = FUNCTIONS) => join(folder, name, 'handler.ts');

/** The names of the deployed functions, which are the names of their folders. */
export const functionNames = (): readonly string[] =>
  readdirSync(FUNCTIONS, { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => name);

/** The file of a bundle that Lambda loads. */
const ENTRY = 'index.mjs';

/** The handler in `index.mjs` that Lambda calls. */
export const HANDLER = 'index.handler';

/**
 * The code of a function with everything that it uses, including the SDK's clients. Sources are bundled by esbuild; a
 * bundle that is already built is used unchanged. A module that is loaded only when needed has its own file next
 * to `index.mjs`, since esbuild can remove unused parts only from a separate file.
 */
export function lambdaCodeOf(name: string, folder = FUNCTIONS): Code {
  if (existsSync(join(folder, name, ENTRY))) return Code.fromAsset(join(folder, name));
  const file = handlerFile(name, folder);
  if (!existsSync(file)) throw new Error(`functions/${name}: expected ${ENTRY} or handler.ts, got neither`);
  return Code.fromAsset(dirname(file), {
    // The bundle's bytes are hashed, since not all of its sources are in this folder.
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      // The image is never pulled: bundling here always succeeds or throws.
      image: DockerImage.fromRegistry('none'),
      local: {
        tryBundle(to) {
          writeBundle(name, to);
          return true;
        },
      },
    },
  });
}

/** The bytes of each file by its name. */
export type Bundle = Readonly<Record<string, Uint8Array>>;

/** The bundle of a function. It is built once a process, for all stacks. The same sources give the same bytes. */
export const bundleOf = (name: string): Bundle => built(name).code;

/**
 * The source maps of a bundle, by the names of its files. They are not deployed, but can be built again from the same
 * sources. Their paths are relative to the folder `bundle`.
 */
export const mapsOf = (name: string): Bundle => built(name).maps;

type Built = { readonly code: Bundle; readonly maps: Bundle };

const bundles = new Map<string, Built>();

function built(name: string): Built {
  const bundle = bundles.get(name) ?? build(handlerFile(name));
  bundles.set(name, bundle);
  return bundle;
}

/** Writes a bundle into a folder, which is created if it does not exist. */
export const writeBundle = (name: string, to: string): void => writeFiles(bundleOf(name), to);

/** Writes the source maps of a bundle into a folder: `index.mjs.map` for `index.mjs`. */
export const writeMaps = (name: string, to: string): void =>
  writeFiles(
    Object.fromEntries(Object.entries(mapsOf(name)).map(([file, bytes]) => [`${file}${MAP}`, bytes])),
    to,
  );

function writeFiles(files: Bundle, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const [path, bytes] of Object.entries(files)) writeFileSync(join(to, path), bytes);
}

const BUNDLE = join(root, 'infra', 'bundle.ts');

const MAP = '.map';

function build(file: string): Built {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-bundle-'));
  try {
    execFileSync(process.execPath, [BUNDLE, file, folder], { stdio: ['ignore', 'ignore', 'pipe'] });
    const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))] as const);
    return {
      code: Object.fromEntries(files.filter(([name]) => !name.endsWith(MAP))),
      maps: Object.fromEntries(
        files.flatMap(([name, bytes]) => (name.endsWith(MAP) ? [[name.slice(0, -MAP.length), bytes]] : [])),
      ),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
