import { execFile } from 'node:child_process';
import { once as event } from 'node:events';
import { mkdtemp, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildResult, build, type Metafile } from 'esbuild';
import { bundleHandler } from '../../infra/bundle-handler.ts';
import { bundleOptions, root } from '../../infra/bundle-options.ts';
import { once } from '../../lib/base/async.ts';
import { atMost, type Bench, bounded } from './bench.ts';
import { median } from './measured-process.ts';

const MAX_KB = 750;
/**
 * Maximum ratio to the start of clients alone. They do not make the two requests that are a third of the start of
 * run-jobs, so less than 1.5 is impossible.
 */
const MAX_TIMES = 1.5;
/** Number of runs of each, in turns, so that a slow moment of the machine affects all of them. */
const RUNS = 15;

/**
 * The size of the bundles, and the time until a fresh process can handle its first event, as when Lambda starts it: all
 * modules are imported, and everything shared by events is opened. Compared with a process that only imports and
 * creates the same AWS SDK clients, as usual bundles do.
 */
export const cold: Bench = {
  name: 'cold',
  about:
    "How large the bundles are (all files, minified), and how long a fresh process takes until it could handle its first event, beside a process that imports and creates only the AWS SDK's clients that the function loads. A third of the start of run-jobs is its two requests, what table the store names and the table's time; the clients alone make none.",
  async *run() {
    for (const name of ['run-jobs', 'snapshot', 'split-texts']) {
      const { kb, startMs, aloneMs } = await startOf(name, RUNS);
      yield bounded(`${name}: size`, `${kb.toFixed(0)} KB`, `below ${MAX_KB} KB`, kb < MAX_KB);
      yield {
        measured: `${name}: start; of the SDK's clients alone`,
        value: `${startMs.toFixed(0)} ms; ${aloneMs.toFixed(0)} ms`,
      };
      yield atMost(`${name}: start ÷ clients`, startMs / aloneMs, MAX_TIMES);
    }
  },
};

/** The memory, in MB, of a fresh process with a function's bundle once it can handle its first event. */
export async function memoryAtStart(name: string): Promise<number> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-cold-'));
  const { outputFiles, ...made } = await bundleHandler(join('functions', name, 'handler.ts'));
  const files = outputFiles.filter(({ path }) => !path.endsWith('.map'));
  const start = await write(join(folder.path, 'whole-'), { ...made, outputFiles: files });
  return Number(await importing(start, '', 'process.memoryUsage.rss()')) / 1e6;
}

/** The size of a function's bundle, and the median milliseconds of its start and of the start of its clients alone. */
export async function startOf(name: string, runs: number) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-cold-'));
  const entry = join('functions', name, 'handler.ts');
  const made = await bundleHandler(entry);
  const whole = { ...made, outputFiles: made.outputFiles.filter(({ path }) => !path.endsWith('.map')) };
  const start = await write(join(folder.path, 'whole-'), whole);
  const loaded = new Set((await loadedBy(start)).map((file) => basename(file)));
  const clients = await build({
    ...bundleOptions,
    stdin: { contents: await clientsOf(inputsOf(whole.metafile, loaded)), resolveDir: root },
  });
  const [startMs, aloneMs] = await timesOf(
    [start, await write(join(folder.path, 'clients-'), clients)],
    runs,
  );
  const kb = whole.outputFiles.reduce((sum, { contents }) => sum + contents.length, 0) / 1_000;
  return { kb, startMs, aloneMs };
}

/** The sources of the files of a bundle with these names. */
const inputsOf = ({ outputs }: Metafile, names: ReadonlySet<string>): readonly string[] =>
  Object.entries(outputs).flatMap(([file, { inputs }]) =>
    names.has(basename(file)) ? Object.keys(inputs) : [],
  );

/** A module that only imports the same members of the SDK's clients as the sources, and creates the clients. */
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
      .flatMap((imported) => [
        `export { ${imported} } from '${client}';`,
        ...(imported.endsWith('Client')
          ? [`import { ${imported} as ${imported}Made } from '${client}'; new ${imported}Made();`]
          : []),
      ]),
  );
  return [...new Set(lines)].join('\n');
}

const IMPORT = /^import \{([^}]*)\} from '(@aws-sdk\/(?:client|lib)-[^']+)'/gm;

/** Writes the files of a bundle, and returns the path of its entry. */
async function write(
  prefix: string,
  { outputFiles = [] }: Pick<BuildResult, 'outputFiles'>,
): Promise<string> {
  const folder = await mkdtemp(prefix);
  await Promise.all(
    outputFiles.map(({ path, contents }) => writeFile(join(folder, basename(path)), contents)),
  );
  const first = outputFiles.find(({ path }) => /^(index|stdin)\.mjs$/.test(basename(path)));
  return join(folder, basename(first?.path ?? ''));
}

/** The median milliseconds of the import of each file, in separate processes. */
async function timesOf(files: readonly [string, string], runs: number): Promise<readonly [number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let run = 0; run < runs; run += 1)
    for (const index of [0, 1] as const) {
      // `node:http` is imported before the measurement, since only this test's AWS endpoint needs it.
      const from = "await import('node:http'); const from = performance.now()";
      times[index].push(Number(await importing(files[index], from, 'performance.now() - from')));
    }
  return [median(times[0]), median(times[1])];
}

/** The files that are loaded with a file. */
async function loadedBy(file: string): Promise<readonly string[]> {
  const hooks = `const loaded = [];
    (await import('node:module')).registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } })`;
  return (await importing(file, hooks, "loaded.join(' ')")).split(' ');
}

/** Imports a file in a process with the settings of a function. Runs `before` first; returns the value of `then`. */
async function importing(file: string, before: string, then: string): Promise<string> {
  const endpoint = await emptyAws();
  const script = `${before};
    await import(${JSON.stringify(`file://${file}`)});
    process.stdout.write(String(${then}), () => process.exit());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    // A function has no certificate bundle. This machine's bundle would be read otherwise.
    env: { ...process.env, AWS_CA_BUNDLE: '', ...SETTINGS, AWS_ENDPOINT_URL: endpoint },
  });
  return stdout;
}

/** An AWS that only knows the name of the store's table. Its responses have a `Date`. */
const emptyAws = once(async () => {
  const server = createServer((request, response) => {
    const body = request.url?.includes('table.json') ? TABLE : '{}';
    request
      .resume()
      .on('end', () =>
        response.setHeader('content-type', 'application/json').setHeader('etag', '"1"').end(body),
      );
  });
  server.listen(0, '127.0.0.1').unref();
  await event(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

const TABLE = JSON.stringify({ version: 1, table: 'table' });

/** The environment that the stack gives a function. */
const SETTINGS = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'id',
  AWS_SECRET_ACCESS_KEY: 'key',
  PLATFORM_BASE_URL: 'https://cold.invalid',
  PLATFORM_TOKEN_SECRET: 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:cold/token-AbCdEf',
  SYNC_STORE: 's3://bucket',
  SYNC_TABLE: 'table',
  SYNC_QUEUE_URL: 'http://127.0.0.1:1/111122223333/queue',
  SYNC_EVENT_BUS: 'default',
  SYNC_SNAPSHOT_FUNCTION: 'arn:aws:lambda:eu-central-1:111122223333:function:snapshot:live',
  SYNC_GLUE_DATABASE: 'database',
};
