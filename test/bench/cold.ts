import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildResult, buildSync, type Metafile } from 'esbuild';
import { bundleOptions, root } from '../../infra/bundle-options.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { median } from './measured-process.ts';

const MOST_KB = 1_000;
const MOST_TIMES = 1.3;
/** Runs of each, in turn, so that a slow moment of the machine affects all of them. */
const RUNS = 15;

/**
 * How large the bundles are, and how long a fresh process takes to import them, compared with the AWS SDK's clients
 * that they need: first what a function loads at its start, then also all that it loads later, when the first message,
 * call or event needs it. That adds the function's own code and its other packages to the same clients.
 */
export const cold: Bench = {
  name: 'cold',
  async run() {
    const rows: Row[] = [];
    for (const name of ['run-jobs', 'snapshot', 'split-texts']) rows.push(...(await measure(name)));
    return rows;
  },
};

async function measure(name: string): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-cold-'));
  try {
    const entry = join('functions', name, 'handler.ts');
    const whole = buildSync({ ...bundleOptions, metafile: true, entryPoints: { index: entry } });
    const clients = buildSync({
      ...bundleOptions,
      stdin: { contents: await clientsOf(Object.keys(whole.metafile.inputs)), resolveDir: root },
    });
    const files = await write(join(folder, 'whole-'), whole);
    const used = loadedLater(whole.metafile);
    const [start, later, alone] = await timesOf([
      files.filter((file) => basename(file) === 'index.mjs'),
      files.filter((file) => basename(file) === 'index.mjs' || used.has(basename(file))),
      (await write(join(folder, 'clients-'), clients)).filter((file) => basename(file) === 'stdin.mjs'),
    ]);
    const kb = whole.outputFiles.reduce((sum, { contents }) => sum + contents.length, 0) / 1_000;
    const times = (ms: number) => `${ms.toFixed(0)} ms, ${(ms / alone).toFixed(2)} of the clients`;
    return [
      bounded(`${name}: size`, `${kb.toFixed(0)} KB`, `below ${MOST_KB} KB`, kb < MOST_KB),
      { measured: `${name}: import of the SDK's clients alone`, value: `${alone.toFixed(0)} ms` },
      bounded(
        `${name}: import at the start`,
        times(start),
        `at most ${MOST_TIMES}`,
        start <= alone * MOST_TIMES,
      ),
      { measured: `${name}: import of that and all that is loaded later`, value: times(later) },
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The files of a bundle that the project's own code, or the SDK of durable executions, imports when it needs them. */
function loadedLater({ outputs }: Metafile): ReadonlySet<string> {
  const isUsed = (entry = '') =>
    (entry.startsWith('lib/') && entry !== 'lib/store/directory.ts') ||
    entry.includes('/@aws-sdk/client-lambda/');
  return new Set(
    Object.entries(outputs).flatMap(([file, { entryPoint }]) => (isUsed(entryPoint) ? [basename(file)] : [])),
  );
}

/** A module that imports from the SDK's clients what the sources import, and nothing else. */
async function clientsOf(inputs: readonly string[]): Promise<string> {
  const sources = await Promise.all(
    inputs.filter((file) => file.startsWith('lib/')).map((file) => readFile(join(root, file), 'utf8')),
  );
  const imports = sources.flatMap((source) => [...source.matchAll(IMPORT)]);
  const lines = imports.flatMap(([, names = '', client]) =>
    names
      .split(',')
      .map((imported) => imported.trim())
      .filter((imported) => imported !== '' && !imported.startsWith('type '))
      .map((imported) => `export { ${imported} } from '${client}';`),
  );
  // The SDK of durable executions loads the whole of its client.
  const durable = inputs.some((file) => file.includes('/durable-execution-sdk-js/'));
  if (durable) lines.push(`export * as lambda from '@aws-sdk/client-lambda';`);
  return [...new Set(lines)].join('\n');
}

const IMPORT = /^import \{([^}]*)\} from '(@aws-sdk\/(?:client|lib)-[^']+)'/gm;

async function write(prefix: string, { outputFiles = [] }: Pick<BuildResult, 'outputFiles'>) {
  const folder = await mkdtemp(prefix);
  const files = outputFiles.map(({ path, contents }) => ({ file: join(folder, basename(path)), contents }));
  await Promise.all(files.map(({ file, contents }) => writeFile(file, contents)));
  return files.map(({ file }) => file);
}

/** Milliseconds that the import of each list of files takes, each in processes of its own; the medians. */
async function timesOf<Lists extends readonly (readonly string[])[]>(lists: readonly [...Lists]) {
  const times = lists.map((): number[] => []);
  for (let run = 0; run < RUNS; run += 1)
    for (const [index, files] of lists.entries()) times[index]?.push(await importMs(files));
  return times.map(median) as { readonly [Each in keyof Lists]: number };
}

async function importMs(files: readonly string[]): Promise<number> {
  const urls = JSON.stringify(files.map((file) => `file://${file}`));
  const script = `const from = performance.now();
    await Promise.all(${urls}.map((url) => import(url)));
    process.stdout.write(String(performance.now() - from), () => process.exit());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout);
}
