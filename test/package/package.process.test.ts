import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { build } from '../../build/build.ts';
import { sandboxPackages } from '../../lib/cli/commands/sandbox.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { blocksOf } from '../docs/blocks.ts';
import { argumentsOf, linesOf, parseLine } from '../docs/shell.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { startStacks } from '../local-aws/services/start-stacks.ts';
import { printedBy, runProgram } from '../run-program.ts';
import { example, printed } from './examples.ts';

/*
 * Tests the package as npm packs it, with a quick build of its JavaScript, in a project with the packages of this
 * checkout. `npm run conformance -- package` tests the rest: types, bundles, an installation, and other versions of
 * Node.
 */

const manifest: Readonly<Record<'dependencies' | 'peerDependencies', Readonly<Record<string, string>>>> & {
  readonly version: string;
} = JSON.parse(readFileSync('package.json', 'utf8'));

/** Files of a checkout that must not be in the package. */
const PRIVATE = [
  'sandbox.env',
  '.env',
  '.npmrc',
  'test/a.test.ts',
  'lib/a.ts',
  'bin/.env',
  'dist/sandbox.env',
];

const temporary = folderOfAll();
const checkout = join(temporary, 'checkout');
const project = join(temporary, 'project');
const installed = join(project, 'node_modules', 'platform-sync');
let files: readonly string[] = [];

beforeAll(async () => {
  mkdirSync(checkout);
  for (const path of ['package.json', 'README.md', 'LICENSE', 'bin', 'infra/RUNBOOK.md'])
    cpSync(path, join(checkout, path), { recursive: true });
  build(join(checkout, 'dist'), { quick: true });
  for (const path of PRIVATE) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), 'export PLATFORM_TOKEN=secret');
  }
  const publishing = ['npm', 'publish', '--dry-run', '--json', '--ignore-scripts', '--offline'] as const;
  const { code, out, err } = await runProgram(publishing, { folder: checkout });
  // npm prints "auto-corrected" if it had to change package.json.
  if (code !== 0 || err.includes('auto-corrected'))
    throw new Error(`${publishing.join(' ')}: ${code}\n${err}`);
  const published = JSON.parse(out);
  files = (published['platform-sync'] ?? published).files.map(({ path }: { readonly path: string }) => path);
  for (const path of files) cpSync(join(checkout, path), join(installed, path));
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true });
    symlinkSync(resolve('node_modules', name), join(project, 'node_modules', name));
  }
}, 120_000);

const platformSync = (...argv: readonly string[]) =>
  [process.execPath, join(installed, 'bin', 'platform-sync.js'), ...argv] as const;

test('the package contains the command, the build, and nothing else', () => {
  const belongs =
    /^(LICENSE|README\.md|package\.json|infra\/(config\.schema\.json|RUNBOOK\.md)|bin\/platform-sync\.js|dist\/(.+\.(js|js\.map|sql)|lib\/report\/report-page\.json))$/;

  expect(files.filter((path) => !belongs.test(path))).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining(['dist/lib/cli/bin.js', 'dist/lib/entries/platform.js', 'dist/infra/index.js']),
  );
  expect(files.filter((path) => path.endsWith('.sql'))).toHaveLength(
    globSync('lib/tables/catalog/queries/*.sql').length,
  );
});

describe('the build', () => {
  const sources = () => globSync(`${installed}/dist/**/*.js`).map((path) => readFileSync(path, 'utf8'));

  test('imports only packages that users get with this one or are asked to install', () => {
    const named = sources().flatMap((source) => [
      ...source.matchAll(/^(?:import|export)\b[^;]*?from '([@a-z][^']*)'|\bimport\('([@a-z][^']*)'\)/gm),
    ]);
    const packageOf = (name: string) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '';
    const imported = new Set(named.map(([, name, later]) => packageOf(name ?? later ?? '')));
    // This package is only in bundles, and not installed by users. `npm run licences` includes it.
    imported.add('@aws/durable-execution-sdk-js');
    imported.add('@aws-sdk/client-sns');
    const given = { ...manifest.dependencies, ...manifest.peerDependencies };

    expect([...imported].filter((name) => !name.startsWith('node:')).sort()).toEqual(
      Object.keys(given).sort(),
    );
  });

  test('uses nothing that Node 24 lacks', () => {
    const newer = /\bUint8Array\.from(Hex|Base64)\b/;
    // Comments may contain the names.
    const code = sources().map((source) => source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, ''));

    expect(code.flatMap((source) => newer.exec(source)?.[0] ?? [])).toEqual([]);
  });
});

test('the package may be published, with provenance', () => {
  const { private: isPrivate, publishConfig } = JSON.parse(readFileSync('package.json', 'utf8'));

  // A dry run of npm does not check this.
  expect(isPrivate).toBeUndefined();
  expect(publishConfig).toEqual({ access: 'public', provenance: true });
});

test('the command is committed as executable, so that npm need not change its mode', () => {
  expect(statSync('bin/platform-sync.js').mode & 0o777).toBe(0o755);
});

test('the installed command runs', async () => {
  const version = await printedBy(platformSync('--version'), { folder: project });
  const help = await printedBy(platformSync('--help'), { folder: project });

  expect(version).toBe(`${manifest.version}\n`);
  expect(help).toContain('snapshot');
});

test('`sandbox` names the missing packages, as the manual does', async () => {
  const { code, err } = await runProgram(platformSync('sandbox'), { folder: project });

  expect(err.trim().split('\n')).toEqual([expect.stringContaining(example('sandbox').trim())]);
  expect(code).toBe(2);
});

test.each([
  [['query', 'SELECT 1'], '@duckdb/node-api'],
  [['mcp'], '@modelcontextprotocol/server'],
])('%j names the missing package and exits 2', async (argv, peer) => {
  mkdirSync(join(project, 'platform-sync-data'), { recursive: true });

  const { code, err } = await runProgram(platformSync(...argv), { folder: project });

  expect(err.trim().split('\n')).toEqual([expect.stringContaining(`npm install ${peer}@`)]);
  expect(code).toBe(2);
});

const AWS = {
  PLATFORM_BASE_URL: 'http://127.0.0.1:9',
  PLATFORM_TOKEN_SECRET: 'acme/token',
  SYNC_STORE: 's3://bucket',
  SYNC_TABLE: 'table',
  SYNC_QUEUE_URL: 'http://127.0.0.1:9/1/jobs',
  SYNC_GLUE_DATABASE: 'acme',
  SYNC_EVENT_BUS: 'default',
  SYNC_SNAPSHOT_FUNCTION: 'snapshot:live',
  // Every request to AWS fails.
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
};
const PARAMETER = 'arn:aws:ssm:eu-central-1:111122223333:parameter/acme/token';

test.each([
  [['env', '--stack', 'acme'], {}, ['cloudformation']],
  [['snapshot', 'calculations'], {}, ['secrets-manager']],
  [['snapshot', 'all'], { PLATFORM_TOKEN_SECRET: PARAMETER }, ['ssm']],
  [['score', 'texts.csv', '--text', 'text'], {}, ['secrets-manager']],
  [['work', '--drain'], {}, ['secrets-manager', 'eventbridge', 'lambda']],
  [['tables'], {}, ['glue']],
  [['prune', '--keep', '1', '--yes'], {}, ['glue']],
  [['jobs', 'resolve', 'a', 'done', '--note', 'seen'], {}, ['eventbridge']],
])(
  '%j names the AWS clients that its settings need before it begins, and exits 2',
  async (argv, given, clients) => {
    writeFileSync(join(project, 'texts.csv'), 'text\nfine\n');
    const names = clients.map((client) => `@aws-sdk/client-${client}@3`);

    const { code, err } = await runProgram(platformSync(...argv), {
      folder: project,
      environment: { ...AWS, ...given },
    });

    expect(err.trim().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`not installed: npm install ${names.join(' ')}$`)),
    ]);
    expect(code).toBe(2);
  },
);

test('`doctor` first says which AWS clients are missing, all of them, and continues', async () => {
  const { code, out } = await runProgram(platformSync('doctor', '--json'), {
    folder: project,
    environment: AWS,
  });

  const { checks } = JSON.parse(out);
  expect(checks[1]).toEqual({
    name: 'packages',
    status: 'failed',
    detail:
      'the AWS client of Secrets Manager and the AWS client of Glue and the AWS client of Lambda and the AWS client of EventBridge are not installed: npm install @aws-sdk/client-secrets-manager@3 @aws-sdk/client-glue@3 @aws-sdk/client-lambda@3 @aws-sdk/client-eventbridge@3',
  });
  expect(code).toBe(1);
});

test('the client works with a token, and names the AWS client that it needs if the token is in a secret', async () => {
  const platform = await startPlatform({ calculations: 3 });
  const script = `
    import { openPlatform } from 'platform-sync/platform';
    const search = (settings) => openPlatform({ PLATFORM_BASE_URL: '${platform.url}', ...settings })
      .calculations.search({ sort: { field: 'id', ascending: true }, limit: 10 })
      .then(({ rows }) => rows.length, ({ message, cause }) => message + ' ' + cause?.message);
    console.log(await search({ PLATFORM_TOKEN: '${platform.token}' }));
    console.log(await search({ PLATFORM_TOKEN_SECRET: 'acme/token' }));
    console.log(await search({ PLATFORM_TOKEN_SECRET: '${PARAMETER}' }));`;

  const out = await printedBy([process.execPath, '--input-type=module', '-e', script], { folder: project });
  await platform.close();

  const [rows, secret, parameter] = out.trim().split('\n');
  expect(rows).toBe('3');
  expect(secret).toContain('npm install @aws-sdk/client-secrets-manager@3');
  expect(parameter).toContain('npm install @aws-sdk/client-ssm@3');
});

test('`env` prints the settings of a stack, and which AWS clients they need', async () => {
  const client = join(project, 'node_modules', '@aws-sdk', 'client-cloudformation');
  symlinkSync(resolve('node_modules', '@aws-sdk', 'client-cloudformation'), client);
  const settings = { SYNC_STORE: 's3://acme', PLATFORM_TOKEN_SECRET: PARAMETER, SYNC_GLUE_DATABASE: 'acme' };
  const stacks = await startStacks(() =>
    Object.entries(settings).map(([Description, OutputValue]) => ({
      OutputKey: Description.replaceAll('_', ''),
      OutputValue,
      Description,
    })),
  );

  const { code, out, err } = await runProgram(platformSync('env', '--stack', 'acme'), {
    folder: project,
    environment: {
      AWS_ENDPOINT_URL: stacks.endpoint,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
    },
  });
  await stacks[Symbol.asyncDispose]();
  unlinkSync(client);

  expect(out.trim().split('\n')).toEqual(Object.entries(settings).map((each) => each.join('=')));
  expect(err.trim()).toBe(
    'to use these settings: the AWS client of Parameter Store and the AWS client of Glue are not installed: npm install @aws-sdk/client-ssm@3 @aws-sdk/client-glue@3',
  );
  expect(code).toBe(0);
});

test('every other command loads without any optional package', async () => {
  const modules = globSync(`${installed}/dist/lib/cli/commands/*.js`);
  const script = `for (const file of ${JSON.stringify(modules)}) await import(file);`;

  await printedBy([process.execPath, '--input-type=module', '-e', script], { folder: project });

  expect(modules.length).toBeGreaterThan(25);
});

test('the packages of the sandbox have the versions that the tests use', () => {
  const { devDependencies, peerDependenciesMeta } = JSON.parse(readFileSync('package.json', 'utf8'));

  expect(devDependencies).toMatchObject(sandboxPackages);
  expect(manifest.peerDependencies).toMatchObject(sandboxPackages);
  for (const name of Object.keys(manifest.peerDependencies))
    expect(peerDependenciesMeta[name]).toEqual({ optional: true });
});

test('the examples of the manual print what they should, and a snapshot is taken', async () => {
  const platform = await startPlatform({ calculations: 300 });
  const environment = {
    PLATFORM_BASE_URL: platform.url,
    PLATFORM_TOKEN: platform.token,
    PLATFORM_RATE: '50',
  };
  const of = { folder: project, environment };
  const names = Object.keys(printed);
  for (const name of names) writeFileSync(join(project, `${name}.mjs`), example(name));

  const outputs = await Promise.all(
    names.map((name) => printedBy([process.execPath, join(project, `${name}.mjs`)], of)),
  );
  const snapshot = await printedBy(platformSync('snapshot', 'calculations', '--json'), of);
  await platform.close();

  expect(outputs).toEqual(Object.values(printed));
  expect(JSON.parse(snapshot)).toMatchObject({ records: 300 });
});

describe('the six tasks of README, with the package,', () => {
  const [, section = ''] = readFileSync('README.md', 'utf8').split(/^## Six tasks$/m);
  const tasks = (section.split(/^## /m)[0] ?? '').split(/^(?=### )/m).slice(1);
  const lines = (task: string) =>
    blocksOf('README.md', task).flatMap(({ language, text }) => (language === 'sh' ? linesOf(text) : []));

  test('have two commands each, and are six', () => {
    expect(tasks.map((task) => lines(task).length)).toEqual([2, 2, 2, 2, 2, 2]);
  });

  test('succeed in an empty project', async () => {
    const platform = await startPlatform({ calculations: 200, datasets: 5, cards: 20, fileSets: 0 });
    const environment = {
      ...{ PLATFORM_BASE_URL: platform.url, PLATFORM_TOKEN: platform.token, PLATFORM_RATE: '1000' },
      LOG_LEVEL: 'silent',
    };
    const of = { folder: mkdtempSync(join(project, 'six-')), environment };
    symlinkSync(resolve('node_modules', '@duckdb'), join(project, 'node_modules', '@duckdb'));

    for (const task of tasks) {
      for (const { words, text } of blocksOf('README.md', task))
        if (words !== '') writeFileSync(join(of.folder, words), text);
      for (const line of lines(task)) {
        const [stage] = parseLine(line).stages;
        await printedBy(platformSync(...(stage === undefined ? [] : (argumentsOf(stage) ?? []))), of);
      }
    }
    await platform.close();

    expect(readFileSync(join(of.folder, 'scored.csv'), 'utf8').trim().split('\n')).toHaveLength(3);
    expect(readFileSync(join(of.folder, 'sums-done.csv'), 'utf8').trim().split('\n')).toHaveLength(3);
    expect(readFileSync(join(of.folder, 'cleanup.csv'), 'utf8')).toContain('owner');
  });
});
