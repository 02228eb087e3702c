import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Every import of the sources: from which file, of what (a path in the project, or a package). */
type Import = { readonly from: string; readonly of: string };

const FROM = /(?:from|import)\s*\(?\s*'([^']+)'/g;

const imports: readonly Import[] = globSync('{lib,functions,infra}/**/*.{ts,js}').flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(FROM)].map(([, named = '']) => ({
    from: file,
    of: named.startsWith('.') ? normalize(join(dirname(file), named)) : named,
  })),
);

const within = (folder: string) => (path: string) => path.startsWith(`${folder}/`);
const inLib = within('lib');
const inCli = within('lib/cli');

/** The imports that a rule forbids, each as one readable line. */
const breaches = (forbidden: (each: Import) => boolean) =>
  imports.filter(forbidden).map(({ from, of }) => `${from} imports ${of}`);

describe('the directions of the imports', () => {
  test('the check reads real import lines', () => {
    expect(imports).toContainEqual({ from: 'lib/cli/command-line.ts', of: 'lib/cli/terminal.ts' });
    expect(imports).toContainEqual({ from: 'lib/pace/local-pace.ts', of: 'p-queue' });
  });

  test('nothing imports functions, infra or test', () => {
    const outside = (path: string) => ['functions', 'infra', 'test'].some((folder) => within(folder)(path));

    expect(
      breaches(({ from, of }) => outside(of) && dirname(from).split('/')[0] !== of.split('/')[0]),
    ).toEqual([]);
  });

  test('nothing but the command line imports the command line', () => {
    expect(breaches(({ from, of }) => inCli(of) && !inCli(from))).toEqual([]);
  });

  test('infra imports nothing of lib but the contract', () => {
    expect(
      breaches(({ from, of }) => within('infra')(from) && inLib(of) && of !== 'lib/contract.ts'),
    ).toEqual([]);
  });

  test('only the command line imports the sandbox', () => {
    const inSandbox = within('lib/sandbox');

    expect(breaches(({ from, of }) => inSandbox(of) && !inSandbox(from) && !inCli(from))).toEqual([]);
  });

  test('the client and the pace know nothing of snapshots, jobs, stores or sandboxes', () => {
    const below = (path: string) => within('lib/platform')(path) || within('lib/pace')(path);
    const above = (path: string) =>
      ['snapshot', 'jobs', 'store', 'report', 'sandbox'].some((room) => within(`lib/${room}`)(path));

    expect(breaches(({ from, of }) => below(from) && above(of))).toEqual([]);
  });

  test('lib knows no Lambda event type and no CDK', () => {
    const cloud = /^(aws-lambda|@types\/aws-lambda|aws-cdk-lib|constructs|cdk-nag)/;

    expect(breaches(({ from, of }) => inLib(from) && cloud.test(of))).toEqual([]);
  });

  test('lib does not read the environment, but for the terminal of the process', () => {
    const readers = globSync('lib/**/*.ts').filter((file) =>
      /process\.env\b/.test(stripComments(readFileSync(file, 'utf8'))),
    );

    expect(readers).toEqual(['lib/cli/process-terminal.ts']);
  });
});

const stripComments = (source: string) => source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
