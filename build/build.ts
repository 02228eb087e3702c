import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);

type Exports = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

/** The built files that users start or import, as paths relative to the project's folder. */
function entries(): readonly string[] {
  const { exports }: { exports: Exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const imported = Object.values(exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : Object.values(entry),
  );
  return ['dist/lib/cli/require-node.js', 'dist/lib/cli/bin.js', ...imported];
}

/**
 * Builds the content of the package in the folder `dist`, which is emptied first: JavaScript with source maps,
 * types, and the bundles of the functions. `quick`, for tests: builds only the JavaScript, without type checks.
 * Needs no network. If a step fails, deletes the folder and throws.
 */
export function build(dist: string, { quick = false } = {}): void {
  try {
    rmSync(dist, { recursive: true, force: true });
    run('node_modules/.bin/tsc', '-p', quick ? 'build/tsconfig.quick.json' : 'build', '--outDir', dist);
    for (const file of globSync(join(dist, '**/*.d.ts'))) nameBuiltFiles(file);
    const needed = reachable(
      entries()
        .map((entry) => join(dist, '..', entry))
        .filter((path) => !quick || existsSync(path)),
    );
    for (const file of globSync(join(dist, '**/*.{js,map,ts}')))
      if (!needed.has(file.replace(/\.map$/, ''))) rmSync(file);
    // The queries are read at run time, not imported.
    cpSync(join(root, QUERIES), join(dist, QUERIES), { recursive: true });
    run(process.execPath, 'build/write-page.ts', join(dist, 'lib', 'report'));
    if (quick) return;
    run(process.execPath, 'infra/build-functions.ts', join(dist, 'functions'));
  } catch (error) {
    rmSync(dist, { recursive: true, force: true });
    throw error;
  }
}

/** Matches each relative path that a built file imports. */
const IMPORT_PATH = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+\.js)['"]/g;

/**
 * The built files that the entries need: all modules that a program imports, dynamic imports included, and all
 * declarations that declarations import. Throws if a file does not exist.
 */
function reachable(entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    if (!existsSync(path)) throw new Error(`expected ${path} to be built`);
    const isTypes = path.endsWith('.d.ts');
    for (const [, named = ''] of readFileSync(path, 'utf8').matchAll(IMPORT_PATH)) {
      const file = join(dirname(path), named);
      // Declarations that are written by hand have no `.js` file: they are for packages without types.
      open.push(isTypes ? file.replace(/\.js$/, '.d.ts') : file);
    }
  }
  return found;
}

const QUERIES = 'lib/tables/catalog/queries';

/** Renames imports of `.ts` files to `.js` in a declaration file, since the compiler does not rename them there. */
function nameBuiltFiles(file: string): void {
  const types = readFileSync(file, 'utf8');
  writeFileSync(file, types.replaceAll(/(\b(?:from|import)\s*\(?\s*['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'));
}

function run(command: string, ...args: readonly string[]): void {
  // All output goes to standard error, since standard output belongs to `npm pack --json`.
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}
