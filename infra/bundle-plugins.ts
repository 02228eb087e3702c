import { readFile } from 'node:fs/promises';
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
          !path.includes('/client-ssm/') || OF_PARAMETERS.includes(name) ? whole : '',
        ),
      loader: 'js',
    }));
  },
};

/** The definition of one type: a list, to its end. */
const TYPE = /^export (?:var|const) (?<name>\w+\$) = (?<value>\[[\s\S]*?\]);$/gm;

/** What registers the class of one error, and so keeps it in the bundle. */
const ERROR = /^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm;

/**
 * What the Parameter Store documents for reading one parameter, of the 140 errors of Systems Manager: the others are 45 KB.
 * An error without a class of its own has its name all the same.
 */
const OF_PARAMETERS: readonly string[] = [
  'InternalServerError',
  'InvalidKeyId',
  'ParameterNotFound',
  'ParameterVersionNotFound',
  'ThrottlingException',
];

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

/** What a function imports only when something asks for it; everything else it needs for each event, or at its start. */
const LATER: Readonly<Record<string, RegExp>> = {
  'run-jobs':
    /(parameter-store-token|event-bridge|start-execution|open-runner-here|glue-partitions|directory|scan)\.ts$/,
  snapshot: /(parameter-store-token|glue-partitions|directory|scan)\.ts$/,
  'split-texts':
    /(secrets-manager-token|parameter-store-token|fleet-pace|dynamo-budget|dynamo-breaker|directory)\.ts$/,
  'watch-snapshots': /(directory|scan)\.ts$/,
};

/** What a function never imports: a stack gives it no use for it, and its role no right. */
const NEVER: Readonly<Record<string, RegExp>> = {
  'run-jobs': /glue-partitions\.ts$/,
  'split-texts': /(secrets-manager|parameter-store)-token\.ts$/,
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
export const bundlePlugins = (name: string): Plugin[] => [unusedTypes, usedCommands, importsOf(name)];
