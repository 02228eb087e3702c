import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Removes unused types. A client of the SDK describes every type of its service as a constant; most have
 * computed keys, which esbuild keeps, since computing a key could have an effect. Marked as pure, the unused
 * ones are removed: a tenth of a bundle.
 */
const unusedTypes: Plugin = {
  name: 'unused types',
  setup(build) {
    build.onLoad({ filter: /\/client-[\w-]+\/dist-es\/schemas\/schemas_\d+\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replaceAll(TYPE, 'export var $<name> = /* @__PURE__ */ (() => $<value>)();')
        .replaceAll(ERROR, (whole, name: string) => (ERRORS.includes(name) ? whole : '')),
      loader: 'js',
    }));
    build.onLoad({ filter: /\/client-[\w-]+\/package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/** Matches the definition of one type: a list, to its end. */
const TYPE = /^export (?:var|const) (?<name>\w+\$) = (?<value>\[[\s\S]*?\]);$/gm;

/** Matches the registration of one error's class, which would keep it in the bundle. */
const ERROR = /^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm;

/**
 * The errors whose classes are needed: they are recognized by their class, repeated because of it, or have
 * another name than the service's code. The classes of all others are removed: 40 KB of run-jobs.
 */
const ERRORS: readonly string[] = [
  'ConditionalCheckFailedException',
  'DurableExecutionAlreadyStartedException',
  'KmsAccessDenied',
  'ReplicatedWriteConflictException',
];

/**
 * The parts of the Lambda client that the SDK of durable executions uses for each event; it imports all of the client.
 */
const LAMBDA = 'LambdaClient, CheckpointDurableExecutionCommand, GetDurableExecutionStateCommand';

/** Parts of the SDK for executions with more than steps and waits: 30 KB, which are removed. */
const OTHER_OPERATIONS =
  /^(?:const|class) (?:create(?:\w*Callback|ConcurrentExecution|Invoke|Map|Parallel|Promise|RunInChildContext|WaitFor\w+)(?:Handler)?|ConcurrencyController|BatchResultImpl|executeChildContext|handleCompletedChildContext)\b[\s\S]*?^\}.*$/gm;

const durableExecutions: Plugin = {
  name: 'durable executions',
  setup(build) {
    build.onLoad({ filter: /\/durable-execution-sdk-js\/dist\/index\.mjs$/ }, async ({ path }) => ({
      contents: `import { ${LAMBDA} } from '@aws-sdk/client-lambda';
        ${(await readFile(path, 'utf8'))
          .replace("import('@aws-sdk/client-lambda')", `Promise.resolve({ ${LAMBDA} })`)
          .replaceAll(OTHER_OPERATIONS, '')}`,
      loader: 'js',
    }));
  },
};

/**
 * Imports Node's own modules without the facade that an import would create: it reads every export, and some
 * of them load more of Node, which takes 3 ms of a start.
 */
const builtins: Plugin = {
  name: 'builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ kind, path }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : undefined,
    );
    build.onLoad({ filter: /^/, namespace: 'builtin' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {});
      const lines = names.map((name) => `export const ${name} = /* @__PURE__ */ (() => module.${name})();`);
      return {
        contents: `const module = process.getBuiltinModule('${path}'); export default module;\n${lines.join('\n')}`,
      };
    });
  },
};

/** A module with these names that does nothing. */
const nothing = (...names: readonly string[]) =>
  names.map((name) => `export const ${name} = () => {};`).join('\n');

/** Modules that no function needs, by the ends of their paths, and their replacements. */
const UNUSED: Readonly<Record<string, string>> = {
  // These are for streams of events, such as queries on an S3 object, and for finding a table's endpoint.
  'submodules/event-streams/index.js': `export const resolveEventStreamSerdeConfig = (config) => config;
    export const eventStreamSerdeProvider = () => undefined;`,
  'endpoint-cache/dist-es/EndpointCache.js': 'export class EndpointCache { has() { return false; } }',
  // These are hashes for a Node that was built without its own.
  'md5/Md5Js.js': nothing('Md5Js'),
  'sha1/Sha1Js.js': nothing('Sha1Js'),
  'sha256/Sha256Js.js': nothing('Sha256Js'),
  // These are profiles: a function has no such files.
  'shared-ini-file-loader/loadSharedConfigFiles.js': `export const CONFIG_PREFIX_SEPARATOR = '.';
    export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`,
  // These are pino's destinations: it gets one of ours.
  'sonic-boom/index.js': 'module.exports = function SonicBoom() {};',
  'on-exit-leak-free/index.js': 'module.exports = {};',
  'pino/lib/multistream.js': 'module.exports = () => {};',
  'pino/lib/transport.js': 'module.exports = () => {};',
  '@pinojs/redact/index.js': 'module.exports = () => {};',
  // This is the Parquet writer's code for columns and options that our tables do not have. `bloom` is written
  // after all columns.
  'hyparquet-writer/src/bloom.js': nothing('BloomBuilder', 'writeBlooms'),
  'hyparquet-writer/src/delta.js': nothing('deltaBinaryPack', 'deltaByteArray', 'deltaLengthByteArray'),
  'hyparquet-writer/src/geospatial.js': nothing('geospatialStatistics'),
  'hyparquet-writer/src/snappy.js': nothing('snappyCompress'),
  'hyparquet-writer/src/splitstream.js': nothing('writeByteStreamSplit'),
  'hyparquet-writer/src/variant.js': nothing(
    'autoDetectShredding',
    'encodeVariantColumn',
    'normalizeShreddingConfig',
  ),
  'hyparquet-writer/src/wkb.js': nothing('geojsonToWkb'),
};

/**
 * Removes what a function does not use. `name`: the function. Only texts from a bucket have encodings other
 * than UTF-8: 530 KB.
 */
const unusedIn = (name: string): Plugin => ({
  name: 'unused',
  setup(build) {
    build.onResolve({ filter: /^(iconv-lite|chardet)$/ }, () =>
      name === 'split-texts' ? undefined : { external: true },
    );
    build.onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { external: true } : undefined,
    );
    // No function runs SQL: its verb is beside those that build tables.
    build.onResolve({ filter: /^@duckdb\// }, () => ({ external: true }));
    for (const [end, contents] of Object.entries(UNUSED))
      build.onLoad({ filter: new RegExp(`/${RegExp.escape(end)}$`) }, () => ({ contents }));
  },
});

/**
 * Matches modules that functions import only when needed. Everything else they need for each event, or at
 * their start.
 */
const LATER = /\/(parameter-store|start-execution|topic-sender)\.ts$/;

/**
 * Modules that functions leave out, except the one that needs them: in the stack, the others have no use for
 * them, and no right to use them. The function that writes the report compares runs in a folder.
 */
const LEFT_OUT: readonly (readonly [path: RegExp, but: string])[] = [
  [/\/(runner-here|sources\/[\w-]+\/scan)\.ts$/, 'snapshot'],
  [/\/import-formulas\.ts$/, 'run-jobs'],
  [/\/store\/directory\.ts$/, 'write-report'],
  [/\/table\/sqlite-(file|table)\.ts$/, 'none'],
];

/** The label of an import that is not known to be needed. */
const PENDING = 'pending:';

/**
 * The files whose imports were left in this code, since they are not known to be needed; all others are
 * needed.
 */
export const pendingIn = (code: string): readonly string[] =>
  [...code.matchAll(/\bimport\("pending:([^"]+)"\)/g)].map(([, path = '']) => path);

/**
 * Lets the function `name` import at its start what it needs for each event: then Lambda gives it a whole
 * processor, and one file is read faster than fifty. In the sources these imports are dynamic, for the
 * commands. `needed`: the files that are needed; a room's door loads each of its verbs by such an import, and
 * most functions use few of them.
 */
const importsOf = (name: string, needed: ReadonlySet<string>): Plugin => ({
  name: 'imports',
  setup(build) {
    const isLeftOut = (path: string) => LEFT_OUT.some(([left, but]) => but !== name && left.test(path));
    build.onResolve({ filter: new RegExp(`^${PENDING}`) }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /\/(lib|functions)\/.*\.ts$/ }, async ({ path }) => {
      if (isLeftOut(path)) return { contents: `throw new Error('not in the bundle of ${name}');` };
      const contents = await readFile(path, 'utf8');
      const before: string[] = [];
      const after = contents.replaceAll(IMPORT, (whole, file: string) => {
        const target = join(dirname(path), file);
        if (LATER.test(file) || isLeftOut(target)) return whole;
        if (!needed.has(target)) return `import('${PENDING}${target}')`;
        const module = `imported${before.length}`;
        // It is put into the first line, so that the lines of the sources keep their numbers.
        before.push(`import * as ${module} from '${file}';`);
        return `Promise.resolve(${module})`;
      });
      return { contents: before.join('') + after.replaceAll(SCHEMA, '/* @__PURE__ */ $&'), loader: 'ts' };
    });
  },
});

const IMPORT = /(?<!typeof )\bimport\('(\.[^']+)'\)/g;

/**
 * Matches the creation of a schema, which has no other effect: schemas that a function does not use are left
 * out.
 */
const SCHEMA = /\b(?:z\.\w+|anyRecord|recordOf)\(/g;

/** The plugins that remove what esbuild cannot know to be unused in a function. */
export const bundlePlugins = (name: string, needed: ReadonlySet<string>): Plugin[] => [
  unusedTypes,
  durableExecutions,
  builtins,
  unusedIn(name),
  importsOf(name, needed),
];
