import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * A client of the SDK describes every type of its service as a constant; most of these have computed keys, which esbuild
 * keeps, used or not, since computing a key might do something. Marked as pure, the unused ones go: a tenth of a bundle.
 */
const unusedTypes: Plugin = {
  name: 'unused types',
  setup(build) {
    build.onLoad({ filter: /\/client-[\w-]+\/dist-es\/schemas\/schemas_\d+\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replaceAll(TYPE, 'export var $<name> = /* @__PURE__ */ (() => $<value>)();')
        .replaceAll(ERROR, (whole, name: string) =>
          ERRORS[clientOf(path)]?.includes(name) === false ? '' : whole,
        ),
      loader: 'js',
    }));
  },
};

/** The definition of one type: a list, to its end. */
const TYPE = /^export (?:var|const) (?<name>\w+\$) = (?<value>\[[\s\S]*?\]);$/gm;

/** What registers the class of one error, and so keeps it in the bundle. */
const ERROR = /^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm;

const clientOf = (path: string): string => /\/(client-[\w-]+)\//.exec(path)?.[1] ?? '';

/**
 * What a service documents for the operations that are used, where it has many other errors: those of Systems Manager are
 * 45 KB, those of Glue and Lambda 30 KB. An error without a class of its own has its name all the same.
 */
const ERRORS: Readonly<Record<string, readonly string[]>> = {
  'client-ssm': [
    'InternalServerError',
    'InvalidKeyId',
    'ParameterNotFound',
    'ParameterVersionNotFound',
    'ThrottlingException',
  ],
  'client-glue': [
    'AlreadyExistsException',
    'ConcurrentModificationException',
    'EntityNotFoundException',
    'GlueEncryptionException',
    'InternalServiceException',
    'InvalidInputException',
    'OperationTimeoutException',
    'ResourceNotReadyException',
    'ResourceNumberLimitExceededException',
  ],
  'client-lambda': [
    'DurableExecutionAlreadyStartedException',
    'InvalidParameterValueException',
    'InvalidRequestContentException',
    'ResourceNotFoundException',
    'ServiceException',
    'TooManyRequestsException',
  ],
};

/** What the SDK of durable executions uses of the Lambda client, which it imports as a whole. */
const LAMBDA = ['LambdaClient', 'CheckpointDurableExecutionCommand', 'GetDurableExecutionStateCommand'];

const usedCommands: Plugin = {
  name: 'used commands',
  setup(build) {
    build.onResolve({ filter: /^@aws-sdk\/client-lambda$/ }, ({ kind, resolveDir }) =>
      kind === 'dynamic-import'
        ? { path: 'client-lambda', namespace: 'used', pluginData: resolveDir }
        : undefined,
    );
    build.onLoad({ filter: /^client-lambda$/, namespace: 'used' }, ({ pluginData: resolveDir }) => ({
      contents: `export { ${LAMBDA.join(', ')} } from '@aws-sdk/client-lambda';`,
      resolveDir,
    }));
  },
};

/** What the Parquet writer has for columns and options that no table of ours has, and the names that it is imported by. */
const UNUSED_OF_PARQUET: Readonly<Record<string, readonly string[]>> = {
  bloom: ['BloomBuilder', 'writeBlooms'],
  delta: ['deltaBinaryPack', 'deltaByteArray', 'deltaLengthByteArray'],
  geospatial: ['geospatialStatistics'],
  snappy: ['snappyCompress'],
  splitstream: ['writeByteStreamSplit'],
  variant: ['encodeVariantColumn', 'normalizeShreddingConfig'],
  wkb: ['geojsonToWkb'],
};

/** 20 KB. Filters of the kind `bloom` are written after all columns, if any has one. */
const unusedOfParquet: Plugin = {
  name: 'unused of Parquet',
  setup(build) {
    build.onLoad({ filter: /\/hyparquet-writer\/src\/\w+\.js$/ }, ({ path }) => {
      const names = UNUSED_OF_PARQUET[basename(path, '.js')];
      return names && { contents: names.map((name) => `export const ${name} = () => {};`).join('\n') };
    });
  },
};

/**
 * What the SDK imports at its start for what no function does, by the end of its path, and what stands in its place: streams
 * of events, as of queries on an object of S3, and the discovery of a table's endpoint. 23 KB.
 */
const UNUSED_OF_SDK: Readonly<Record<string, string>> = {
  'submodules/event-streams/index.js': `export const resolveEventStreamSerdeConfig = (config) => config;
    export const eventStreamSerdeProvider = () => undefined;
    export class EventStreamSerde {}`,
  'endpoint-cache/dist-es/EndpointCache.js': 'export class EndpointCache { has() { return false; } }',
};

const unusedOfSdk: Plugin = {
  name: 'unused of the SDK',
  setup(build) {
    for (const [end, contents] of Object.entries(UNUSED_OF_SDK))
      build.onLoad({ filter: new RegExp(`/${RegExp.escape(end)}$`) }, () => ({ contents }));
  },
};

/** What a function imports only when something asks for it; everything else it needs for each event, or at its start. */
const LATER: Readonly<Record<string, RegExp>> = {
  'run-jobs': /(parameter-store-token|event-bridge|start-execution|runner-here|directory|scan)\.ts$/,
  snapshot: /(parameter-store-token|directory|scan)\.ts$/,
  'split-texts': /(secrets-manager-token|parameter-store-token|fleet-pace|directory)\.ts$/,
  'watch-snapshots': /(directory|scan)\.ts$/,
  'write-report': /(directory|scan|topic-sender)\.ts$/,
  'write-tables': /(directory|scan)\.ts$/,
};

/** What a function never imports: a stack gives it no use for it, and its role no right. */
const NEVER: Readonly<Record<string, RegExp>> = {
  'run-jobs': /\/runner-here\.ts$/,
  'split-texts': /(secrets-manager|parameter-store)-token\.ts$/,
  'write-report': /\/sources\/[\w-]+\/scan\.ts$/,
};

/**
 * Imports at the start of the process what the function `name` needs for each event: Lambda gives it a whole processor
 * then, and one file is read faster than fifty. In the sources these are imported when they are needed, for commands.
 */
const importsOf = (name: string): Plugin => ({
  name: 'imports',
  setup(build) {
    build.onLoad({ filter: /\/(lib|functions)\/.*\.ts$/ }, async ({ path }) => {
      if (NEVER[name]?.test(path)) return { contents: `throw new Error('not in the bundle of ${name}');` };
      const contents = await readFile(path, 'utf8');
      const before: string[] = [];
      const after = contents.replaceAll(IMPORT, (whole, file: string) => {
        if (LATER[name]?.test(file)) return whole;
        const module = `imported${before.length}`;
        // In the first line: the lines of the sources stay what they are.
        before.push(`import * as ${module} from '${file}';`);
        return `Promise.resolve(${module})`;
      });
      return { contents: before.join('') + after, loader: 'ts' };
    });
  },
});

const IMPORT = /(?<!typeof )\bimport\('(\.[^']+)'\)/g;

/** What esbuild cannot see of a function. */
export const bundlePlugins = (name: string): Plugin[] => [
  unusedTypes,
  usedCommands,
  unusedOfParquet,
  unusedOfSdk,
  importsOf(name),
];
