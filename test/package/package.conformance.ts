import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { enginesOf } from '../base/aws/engines.ts';
import { printedBy, runProgram } from '../run-program.ts';
import { example, printed } from './examples.ts';

/*
 * Tests the package as users have it: `npm pack`, an installation from the registry into an empty project, and the
 * examples of docs/install.md, on each supported version of Node. Only aws-cdk-lib and constructs are those of the
 * checkout.
 */

const { nodes = [] } = enginesOf(process.env);
const PROGRAMS = Object.keys(printed);

const temporary = mkdtempSync(join(tmpdir(), 'platform-sync-installed-'));
const project = join(temporary, 'project');
let tarball = '';

beforeAll(async () => {
  const packing = ['npm', 'pack', '--json', '--pack-destination', temporary] as const;
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(
    await printedBy(packing, { folder: resolve('.') }),
  );
  tarball = join(temporary, filename);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
  const startedMs = performance.now();
  const said = await install(tarball);
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  console.log(`${entryCount} files, ${size} bytes packed, ${unpackedSize} unpacked; ${said} in ${seconds} s`);
  await install('@types/node@24', 'typescript@5.9.3');
  for (const name of ['aws-cdk-lib', 'constructs'])
    symlinkSync(resolve('node_modules', name), join(project, 'node_modules', name));
  for (const name of [...PROGRAMS, 'infra'])
    for (const extension of ['ts', 'mjs'])
      writeFileSync(join(project, `${name}.${extension}`), example(name));
}, 600_000);

afterAll(() => rmSync(temporary, { recursive: true }), 120_000);

/** Installs packages as users do. Returns npm's output. */
async function install(...names: readonly string[]): Promise<string> {
  const options = ['--prefer-offline', '--no-audit', '--no-fund'];
  // The registry may need settings of this machine.
  const of = { folder: project, environment: process.env };
  return (await printedBy(['npm', 'install', ...options, ...names], of)).trim();
}

const checkoutProgram = (name: string) => resolve('node_modules', '.bin', name);

test('publint finds no fault', async () => {
  const { code, out } = await runProgram([checkoutProgram('publint'), '--strict', tarball], {
    folder: project,
  });

  expect(out).toContain('All good!');
  expect(code).toBe(0);
}, 120_000);

test('Are the types wrong? finds no fault for ES modules', async () => {
  const command = [checkoutProgram('attw'), tarball, '--profile', 'esm-only', '--format', 'json'] as const;

  const { out } = await runProgram(command, { folder: project });

  const { analysis } = JSON.parse(out);
  const inModules = (problem: { readonly resolutionKind?: string }) =>
    problem.resolutionKind === undefined || /^(node16-esm|bundler)$/.test(problem.resolutionKind);
  expect(analysis.entrypoints['./platform'].resolutions['node16-esm'].resolution.fileName).toContain(
    'platform.d.ts',
  );
  expect(analysis.problems.filter(inModules)).toEqual([]);
}, 120_000);

/** Compiler options: strict, and checking all loaded declarations, not only those that are used. */
const CHECKED = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--types', 'node', '--lib', 'es2024'];
const MODULES = ['--module', 'nodenext', '--target', 'es2022'];

describe.each([
  ['TypeScript 5.9', () => join(project, 'node_modules', '.bin', 'tsc')],
  ['the checkout’s TypeScript', () => checkoutProgram('tsc')],
])('with the compiler %s', (_, compiler) => {
  const check = (files: readonly string[], flags: readonly string[] = CHECKED) =>
    runProgram([compiler(), ...flags, ...MODULES, ...files], { folder: project });

  test('the examples have no type errors, and neither have the declarations that they use', async () => {
    const { code, out } = await check(PROGRAMS.map((name) => `${name}.ts`));

    expect(out).toBe('');
    expect(code).toBe(0);
  }, 120_000);

  test('a wrong use of the package is a type error', async () => {
    writeFileSync(join(project, 'wrong.ts'), example('client').replace("field: 'id'", 'field: 1'));

    const { out } = await check(['wrong.ts']);

    expect(out).toMatch(/^wrong\.ts\(\d+,\d+\): error TS2322[^\n]*\n$/);
  }, 120_000);
});

test('the construct has no type errors, and neither have the declarations that it uses', async () => {
  const command = [checkoutProgram('tsc'), ...CHECKED, ...MODULES, 'infra.ts'] as const;

  const { code, out } = await runProgram(command, { folder: project });

  expect(out).toBe('');
  expect(code).toBe(0);
}, 120_000);

/** Environment of a process on one of the Nodes. */
const on = (path: string) => ({ PATH: `${path}${delimiter}${process.env['PATH']}` });

const platformSync = join(project, 'node_modules', '.bin', 'platform-sync');

describe.each(nodes)('on Node $version', ({ version, path }) => {
  test('the examples print what they should, and a snapshot is taken', async () => {
    await using platform = await startPlatform({ calculations: 300 });
    const environment = {
      ...on(path),
      PLATFORM_BASE_URL: platform.url,
      PLATFORM_TOKEN: platform.token,
      PLATFORM_RATE: '50',
    };
    const of = { folder: project, environment };

    const outputs = [];
    for (const name of PROGRAMS) outputs.push(await printedBy(['node', `${name}.mjs`], of));
    const snapshot = await printedBy([platformSync, 'snapshot', 'calculations', '--json', '--force'], of);
    const running = await printedBy(['node', '--version'], of);

    expect(running).toBe(`v${version}\n`);
    expect(outputs).toEqual(Object.values(printed));
    expect(JSON.parse(snapshot)).toMatchObject({ records: 300 });
  }, 120_000);

  test('a CommonJS program loads client and formulas', async () => {
    const script =
      "console.log(typeof require('platform-sync/platform').openPlatform, require('platform-sync/formula').checkFormula('1').length)";

    const { out } = await runProgram(['node', '--no-warnings', '-e', script], {
      folder: project,
      environment: on(path),
    });

    expect(out).toBe('function 0\n');
  });
});

// The newest version has the same rules for this as the middle one.
test.each([nodes[0], nodes.at(-1)])(
  'on two stacks and a stage of a pipeline, the construct works on Node $version',
  async (node) => {
    writeFileSync(join(project, 'stages.mjs'), STAGES);
    const of = { folder: project, environment: on(node?.path ?? '') };

    const app = await printedBy(['node', 'infra.mjs'], of);
    const stages = JSON.parse(await printedBy(['node', 'stages.mjs'], of));

    expect(app).toBe('');
    expect(stages).toEqual({ one: 8, two: 8, staged: 8, files: 8 });
  },
  240_000,
);

/** Starts `sandbox` as a process with 300 calculations, and returns the settings that it prints. */
async function startSandbox(env: Readonly<Record<string, string>>) {
  const child = spawn(platformSync, ['sandbox', '--json', '--calculations', '300'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const [settings] = await Promise.race([once(child.stdout, 'data'), ended]);
  return {
    settings: JSON.parse(String(settings)),
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT');
      await ended;
    },
  };
}

describe('with the packages of the sandbox', () => {
  beforeAll(async () => {
    await install(...example('sandbox').trim().split(' ').slice(2));
  }, 300_000);

  test.each(nodes)(
    'commands work against the sandbox on Node $version',
    async ({ path }) => {
      await using sandbox = await startSandbox(on(path));
      const of = { folder: project, environment: { ...on(path), ...sandbox.settings } };

      const snapshot = await printedBy([platformSync, 'snapshot', 'calculations', '--json'], of);
      const runs = await printedBy([platformSync, 'runs'], of);
      const scored = await printedBy(['node', '-e', SCORE], of);

      expect(JSON.parse(snapshot)).toMatchObject({ records: 300 });
      expect(runs).toContain('calculations');
      expect(scored).toMatch(/^\w+\n$/);
    },
    240_000,
  );
});

/** A user's CDK app. Prints the number of functions of each stack, and the deployed code of one. */
const STAGES = `
import { App, AssetStaging, Stack, Stage } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Repository } from 'aws-cdk-lib/aws-codecommit';
import { CodePipeline, CodePipelineSource, ShellStep } from 'aws-cdk-lib/pipelines';
import { existsSync } from 'node:fs';
import { PlatformSync } from 'platform-sync/infra';

const schedules = [{ source: 'calculations', cron: '0 2 * * ? *' }];
const props = { baseUrl: 'https://acme.example.com', functionsQueue: true, schedules };
const app = new App({ analyticsReporting: false });
const one = new Stack(app, 'one');
const two = new Stack(app, 'two');
new PlatformSync(one, 'Sync', props);
new PlatformSync(two, 'Sync', { ...props, name: 'second' });

const pipelineStack = new Stack(app, 'pipeline', { env: { account: '111122223333', region: 'eu-central-1' } });
const repository = Repository.fromRepositoryName(pipelineStack, 'Repository', 'app');
const synth = new ShellStep('Synth', { input: CodePipelineSource.codeCommit(repository, 'main'), commands: ['npx cdk synth'] });
const pipeline = new CodePipeline(pipelineStack, 'Pipeline', { synth });
const stage = new Stage(app, 'prod', { env: { account: '111122223333', region: 'eu-central-1' } });
const staged = new Stack(stage, 'staged');
new PlatformSync(staged, 'Sync', props);
pipeline.addStage(stage);
pipeline.buildPipeline();

// The pipeline and CDK's own resources have functions, too.
const functionsIn = (stack) =>
  Object.values(Template.fromStack(stack).findResources('AWS::Lambda::Function')).filter(({ Properties }) => Properties.Environment?.Variables?.SYNC_STORE !== undefined).length;
const bundles = one.node.findAll().filter((each) => each instanceof AssetStaging).map(({ absoluteStagedPath }) => absoluteStagedPath);
const files = bundles.filter((path) => existsSync(path + '/index.mjs')).length;
console.log(JSON.stringify({ one: functionsIn(one), two: functionsIn(two), staged: functionsIn(staged), files }));
`;

/** Scores one text. */
const SCORE = `
const { openPlatform } = require('platform-sync/platform');
openPlatform(process.env).sentiment.analyze({ text: 'Wonderful support!' }).then(({ sentiment }) => console.log(sentiment));
`;
