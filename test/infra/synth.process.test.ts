import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Stack } from 'aws-cdk-lib';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, describe, expect, test } from 'vitest';
import { bundleOf } from '../../infra/bundles.ts';
import { createApp } from '../../infra/create-app.ts';
import { PlatformSync } from '../../infra/index.ts';
import { compileCache } from '../compile-cache.ts';
import { appOf, full, minimal, within } from './instances.ts';

const folders: string[] = [];
function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-synth-'));
  folders.push(folder);
  return folder;
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Synthesizes with the command, without an account and without a network for lookups. */
async function synth() {
  const folder = newFolder();
  await promisify(execFile)(
    join('node_modules', '.bin', 'cdk'),
    ['synth', '--quiet', '--no-lookups', '--output', folder],
    {
      env: {
        ...compileCache,
        PATH: `${join(process.cwd(), 'node_modules', '.bin')}:${process.env['PATH']}`,
        HOME: newFolder(),
        HTTPS_PROXY: 'http://127.0.0.1:9',
        HTTP_PROXY: 'http://127.0.0.1:9',
        AWS_EC2_METADATA_DISABLED: 'true',
      },
    },
  );
  return written(folder);
}

/** The context that the command adds to that of `cdk.json`. */
const ADDED = {
  'aws:cdk:enable-path-metadata': true,
  'aws:cdk:enable-asset-metadata': true,
  'aws:cdk:disable-version-reporting': true,
};

/** Synthesizes in this process like the command, with this configuration instead of that in `cdk.json`. */
function synthHere(configuration: Readonly<Record<string, unknown>> = {}) {
  const outdir = newFolder();
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const all = { ...context, ...ADDED, ...configuration };
  const make = () => createApp({ context: all, outdir, analyticsReporting: false }).synth();
  return { make, written: () => written(outdir) };
}

function written(folder: string) {
  const files = readdirSync(folder);
  const templates = files.filter((file) => file.endsWith('.template.json'));
  return {
    templates: new Map(templates.map((file) => [file, readFileSync(join(folder, file), 'utf8')])),
    assets: files.filter((file) => file.startsWith('asset.')).sort(),
  };
}

describe('npx cdk synth', { timeout: 240_000 }, () => {
  test('needs neither account nor network, and produces the same bytes each time', async () => {
    const first = await synth();
    const second = synthHere();
    second.make();

    expect([...first.templates.keys()]).toEqual(['platform-sync-example.template.json']);
    expect(second.written()).toEqual(first);
    expect(first.assets).toHaveLength(7);
  });

  test('names every fault of the configuration, and writes no template', () => {
    const faulty = { ...minimal, baseUrl: 'acme', rate: -1 };
    const { make, written: files } = synthHere({ 'platform-sync': { instances: [faulty] } });

    expect(make).toThrow(/instances\.0\.baseUrl: expected an origin over https/);
    expect(make).toThrow('instances.0.rate: expected a number from 0.001 to 10000, got -1');
    expect(files().templates.size).toBe(0);
  });
});

test('several instances become several stacks of one app', () => {
  const { stacks } = appOf(full, minimal).synth();

  expect(stacks.map(({ stackName }) => stackName).sort()).toEqual([
    'platform-sync-full',
    'platform-sync-least',
  ]);
});

test('cdk-nag finds nothing that is not acknowledged with a reason', () => {
  const app = appOf(full, minimal, within, { ...minimal, name: 'trial', removal: 'destroy' });
  const theirs = new Stack(app, 'theirs');
  const key = new Key(theirs, 'Key', { enableKeyRotation: true });
  new PlatformSync(theirs, 'WithKey', { baseUrl: minimal.baseUrl, key });
  new PlatformSync(theirs, 'WithBucket', {
    baseUrl: minimal.baseUrl,
    bucket: Bucket.fromBucketAttributes(theirs, 'Bucket', { bucketName: 'theirs', encryptionKey: key }),
    table: Table.fromTableAttributes(theirs, 'Table', { tableName: 'theirs', encryptionKey: key }),
  });

  const { violations } = new AwsSolutionsChecks(app).validateScope(app);

  expect(
    violations.map(({ ruleName, violatingResources }) => [
      ruleName,
      violatingResources.map(({ resourceLogicalId }) => resourceLogicalId),
    ]),
  ).toEqual([]);
});

// The report needs its page, and readers of texts need tables of encodings, which are loaded on demand.
test.each([
  ['run-jobs', 750],
  ['snapshot', 750],
  ['split-texts', 1_050],
  ['watch-snapshots', 750],
  ['move-jobs', 750],
  ['write-tables', 750],
  ['write-report', 1_000],
] as const)('the bundle of %s is below %d KB', (name, kilobytes) => {
  const sizes = Object.values(bundleOf(name)).map(({ length }) => length);

  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(kilobytes * 1_000);
});
