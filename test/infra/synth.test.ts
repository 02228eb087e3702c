import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, test } from 'vitest';
import { bundleOf } from '../../infra/bundles.ts';
import { appOf, full, least } from './instances.ts';

const folders: string[] = [];
function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-synth-'));
  folders.push(folder);
  return folder;
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const run = promisify(execFile);

/** Synthesizes with the command, without an account and without a network to look anything up in. */
async function synth(context?: object, environment: Readonly<Record<string, string>> = {}) {
  const folder = newFolder();
  const given = context === undefined ? [] : ['-c', `platform-sync=${JSON.stringify(context)}`];
  const { code, stderr } = await run(
    join('node_modules', '.bin', 'cdk'),
    ['synth', '--quiet', '--no-lookups', '--output', folder, ...given],
    {
      env: {
        PATH: `${join(process.cwd(), 'node_modules', '.bin')}:${process.env['PATH']}`,
        HOME: newFolder(),
        HTTPS_PROXY: 'http://127.0.0.1:9',
        HTTP_PROXY: 'http://127.0.0.1:9',
        AWS_EC2_METADATA_DISABLED: 'true',
        ...environment,
      },
    },
  ).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { readonly code: number; readonly stderr: string }) => ({ code, stderr }),
  );
  const files = readdirSync(folder);
  const templates = files.filter((file) => file.endsWith('.template.json'));
  return {
    code,
    stderr,
    templates: new Map(templates.map((file) => [file, readFileSync(join(folder, file), 'utf8')])),
    assets: files.filter((file) => file.startsWith('asset.')).sort(),
  };
}

describe('npx cdk synth', { timeout: 120_000 }, () => {
  test('needs neither account nor network, and produces the same bytes each time', async () => {
    const unchecked = { CDK_VALIDATION: 'false' };
    const [first, second] = await Promise.all([synth(), synth(undefined, unchecked)]);

    expect(first).toMatchObject({ code: 0 });
    expect([...first.templates.keys()]).toEqual(['platform-sync-example.template.json']);
    expect(second.templates).toEqual(first.templates);
    expect(second.assets).toEqual(first.assets);
    expect(first.assets).toHaveLength(3);
  });

  test('names every fault of the configuration, and fails', async () => {
    const { code, stderr, templates } = await synth({ instances: [{ ...least, baseUrl: 'acme', rate: -1 }] });

    expect(code).not.toBe(0);
    expect(stderr).toContain('instances.0.baseUrl: expected an origin over https');
    expect(stderr).toContain('instances.0.rate: expected a number from 0.001 to 10000, got -1');
    expect(templates.size).toBe(0);
  });
});

test('several instances are several stacks of one app', () => {
  const { stacks } = appOf(full, least).synth();

  expect(stacks.map(({ stackName }) => stackName).sort()).toEqual([
    'platform-sync-full',
    'platform-sync-least',
  ]);
});

test('cdk-nag finds nothing that is not acknowledged with a reason', () => {
  const app = appOf(full, least);

  const { violations } = new AwsSolutionsChecks(app).validateScope(app);

  expect(
    violations.map(({ ruleName, violatingResources }) => [
      ruleName,
      violatingResources.map(({ resourceLogicalId }) => resourceLogicalId),
    ]),
  ).toEqual([]);
});

test.each(['run-jobs', 'snapshot', 'split-texts'])('the bundle of %s is below 1,100 KB', (name) => {
  const sizes = Object.values(bundleOf(name)).map(({ length }) => length);

  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_100_000);
});
