import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * Removes unused types: a tenth of a bundle. An SDK client describes every type of its service as a constant. esbuild
 * keeps most of these constants unless they are marked as pure, since computing their keys could have an effect.
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

/** Matches the definition of one type, which is a list. */
const TYPE = /^export (?:var|const) (?<name>\w+\$) = (?<value>\[[\s\S]*?\]);$/gm;

/** Matches the registration of an error class, which would keep the class in the bundle. */
const ERROR = /^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm;

/**
 * The errors whose classes are needed: code checks for the class, the SDK retries by it, or its name differs from the
 * service's error code. All other error classes are removed: 40 KB of run-jobs.
 */
const ERRORS: readonly string[] = [
  'ConditionalCheckFailedException',
  'DurableExecutionAlreadyStartedException',
  'KmsAccessDenied',
  'ReplicatedWriteConflictException',
];

/**
 * The parts of the Lambda client that the SDK for durable executions needs. The SDK itself imports the whole client.
 */
const LAMBDA = 'LambdaClient, CheckpointDurableExecutionCommand, GetDurableExecutionStateCommand';

/** Matches the parts of the SDK for operations other than steps and waits: 30 KB, which are removed. */
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
 * Loads Node's own modules by `getBuiltinModule` instead of an import. An import reads every export of the module, and
 * some exports load more of Node, which takes 3 ms at startup.
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

/** The source of a module that exports functions with these names, which do nothing. */
const nothing = (...names: readonly string[]) =>
  names.map((name) => `export const ${name} = () => {};`).join('\n');

/** Modules that no function needs, by the ends of their paths, and their replacements. */
const UNUSED: Readonly<Record<string, string>> = {
  // Event streams, such as queries on an S3 object; and the discovery of a table's endpoint.
  'submodules/event-streams/index.js': `export const resolveEventStreamSerdeConfig = (config) => config;
    export const eventStreamSerdeProvider = () => undefined;`,
  'endpoint-cache/dist-es/EndpointCache.js': 'export class EndpointCache { has() { return false; } }',
  // Hashes for a Node that was built without crypto.
  'md5/Md5Js.js': nothing('Md5Js'),
  'sha1/Sha1Js.js': nothing('Sha1Js'),
  'sha256/Sha256Js.js': nothing('Sha256Js'),
  // AWS profiles, whose files a function does not have.
  'shared-ini-file-loader/loadSharedConfigFiles.js': `export const CONFIG_PREFIX_SEPARATOR = '.';
    export const loadSharedConfigFiles = async () => ({ configFile: {}, credentialsFile: {} });`,
  // Pino's destinations: `createLogger` passes another destination to it.
  'sonic-boom/index.js': 'module.exports = function SonicBoom() {};',
  'on-exit-leak-free/index.js': 'module.exports = {};',
  'pino/lib/multistream.js': 'module.exports = () => {};',
  'pino/lib/transport.js': 'module.exports = () => {};',
  '@pinojs/redact/index.js': 'module.exports = () => {};',
  // The Parquet writer's code for columns and options that the tables do not have. `writeBlooms` is called after all
  // columns, so it must exist.
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
 * Removes packages and modules that the function `name` does not use. Only split-texts reads files in encodings other
 * than UTF-8, whose tables take 530 KB.
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
    // No function runs SQL. The import is there only because lib/tables/index.ts also exports `openTables`.
    build.onResolve({ filter: /^@duckdb\// }, () => ({ external: true }));
    for (const [end, contents] of Object.entries(UNUSED))
      build.onLoad({ filter: new RegExp(`/${RegExp.escape(end)}$`) }, () => ({ contents }));
  },
});

/** Matches modules that functions load only when they need them. All other modules are loaded at startup. */
const LATER = /\/(parameter-store|start-execution|topic-sender)\.ts$/;

/**
 * Modules that are left out of all functions except one, since only that function uses them and has the permissions for
 * them. write-report keeps the directory store, since it compares runs in a temporary folder.
 */
const LEFT_OUT: readonly (readonly [path: RegExp, usedBy: string])[] = [
  [/\/(runner-here|sources\/[\w-]+\/scan)\.ts$/, 'snapshot'],
  [/\/import-formulas\.ts$/, 'run-jobs'],
  [/\/store\/directory\.ts$/, 'write-report'],
  [/\/table\/sqlite-(file|table)\.ts$/, 'none'],
];

/** The prefix of the path of an import that is not known to be needed. */
const PENDING = 'pending:';

/** The files whose imports tree shaking has left in a bundle, so that they are needed. */
export const pendingIn = (code: string): readonly string[] =>
  [...code.matchAll(/\bimport\("pending:([^"]+)"\)/g)].map(([, path = '']) => path);

/**
 * Lets the function `name` load at startup the modules that it needs for each event: during init Lambda gives it a full
 * CPU, and one file loads faster than fifty. The sources import these modules dynamically, so that a command loads only
 * what it uses. `needed`: the files that are needed; of the imports in a room's door, a function needs only a few.
 */
const importsOf = (name: string, needed: ReadonlySet<string>): Plugin => ({
  name: 'imports',
  setup(build) {
    const isLeftOut = (path: string) => LEFT_OUT.some(([left, usedBy]) => usedBy !== name && left.test(path));
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
        // All imports are put into the first line, so that the line numbers of the source stay the same.
        before.push(`import * as ${module} from '${file}';`);
        return `Promise.resolve(${module})`;
      });
      return { contents: before.join('') + after.replaceAll(SCHEMA, '/* @__PURE__ */ $&'), loader: 'ts' };
    });
  },
});

const IMPORT = /(?<!typeof )\bimport\('(\.[^']+)'\)/g;

/**
 * Matches a call that creates a schema. It is marked as pure, so that schemas that a function does not use are removed.
 */
const SCHEMA = /\b(?:z\.\w+|anyRecord|recordOf)\(/g;

/** The plugins that remove code that a function does not use, but that esbuild would keep. */
export const bundlePlugins = (name: string, needed: ReadonlySet<string>): Plugin[] => [
  unusedTypes,
  durableExecutions,
  builtins,
  unusedIn(name),
  importsOf(name, needed),
];
