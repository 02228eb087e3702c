import { appendFile, cp, mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Capability,
  CloudFormationClient,
  CreateChangeSetCommand,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeChangeSetCommand,
  DescribeStackEventsCommand,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
  ExecuteChangeSetCommand,
  waitUntilChangeSetCreateComplete,
  waitUntilStackCreateComplete,
  waitUntilStackDeleteComplete,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { ACCOUNT, credentials, REGION } from '../../local-aws/identity.ts';
import type { Template } from '../../local-aws/stack/template.ts';
import { linesOf } from '../../run-program.ts';

/** A template, and the folders of the functions' code by the keys of their archives. */
export type Deployment = { readonly template: Template; readonly assets: ReadonlyMap<string, string> };

type Engine = { readonly endpoint: string; readonly python: string };

/** The members of a resource that are read. */
type Made = {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly status: string;
};

const ASSETS = `cdk-hnb659fds-assets-${ACCOUNT}-${REGION}`;
const Capabilities: Capability[] = ['CAPABILITY_IAM'];
const WAIT_SECONDS = 120;

/** Deploys like `cdk deploy`: uploads archives and the template, and lets CloudFormation do the rest. */
export function openDeployer({ endpoint, python }: Engine, StackName: string) {
  const config = { endpoint, region: REGION, credentials };
  const cloudFormation = new CloudFormationClient(config);
  const s3 = new S3Client({ ...config, forcePathStyle: true });
  const ssm = new SSMClient(config);
  const waiting = { client: cloudFormation, maxWaitTime: WAIT_SECONDS, minDelay: 1, maxDelay: 1 };
  const put = (Key: string, Body: string | Buffer) =>
    s3.send(new PutObjectCommand({ Bucket: ASSETS, Key, Body }));

  async function upload({ template, assets }: Deployment): Promise<{ readonly TemplateURL: string }> {
    await using scratch = await mkdtempDisposable(join(tmpdir(), 'platform-sync-archives-'));
    for (const [key, folder] of assets) {
      // The template is an asset too.
      if (!key.endsWith('.zip')) continue;
      const archive = join(scratch.path, key);
      const files = (await readdir(folder)).map((file) => join(folder, file));
      await linesOf([python, '-m', 'zipfile', '-c', archive, ...files]);
      await put(key, await readFile(archive));
    }
    await put('template.json', JSON.stringify(template));
    return { TemplateURL: `${endpoint}/${ASSETS}/template.json` };
  }

  /** Throws the failures of all resources: the error of a waiter only says that something failed. */
  async function withReasons(cause: unknown): Promise<never> {
    const { StackEvents = [] } = await cloudFormation.send(new DescribeStackEventsCommand({ StackName }));
    const reasons = StackEvents.filter(({ ResourceStatus = '' }) => ResourceStatus.endsWith('FAILED')).map(
      ({ LogicalResourceId, ResourceStatusReason }) => `${LogicalResourceId}: ${ResourceStatusReason}`,
    );
    throw new Error(reasons.join('\n'), { cause });
  }

  return {
    /** Creates what `cdk bootstrap` and the operator create before a deployment. */
    async prepare(parameters: Readonly<Record<string, string>>): Promise<void> {
      await s3.send(new CreateBucketCommand({ Bucket: ASSETS }));
      const all = { '/cdk-bootstrap/hnb659fds/version': '21', ...parameters };
      for (const [Name, Value] of Object.entries(all))
        await ssm.send(new PutParameterCommand({ Name, Value, Type: 'SecureString' }));
    },
    async create(deployment: Deployment): Promise<void> {
      const uploaded = await upload(deployment);
      await cloudFormation.send(new CreateStackCommand({ ...uploaded, StackName, Capabilities }));
      await waitUntilStackCreateComplete(waiting, { StackName }).catch(withReasons);
    },
    /** Deploys an update. Returns the action for each resource that changes. */
    async update(deployment: Deployment) {
      const named = { StackName, ChangeSetName: 'update' };
      const uploaded = await upload(deployment);
      await cloudFormation.send(new CreateChangeSetCommand({ ...uploaded, ...named, Capabilities }));
      await waitUntilChangeSetCreateComplete(waiting, named);
      const { Changes = [] } = await cloudFormation.send(new DescribeChangeSetCommand(named));
      await cloudFormation.send(new ExecuteChangeSetCommand(named));
      await waitUntilStackUpdateComplete(waiting, { StackName }).catch(withReasons);
      return Changes.map(({ ResourceChange: { ResourceType: type = '', Action, Replacement } = {} }) => ({
        type,
        action: Replacement === 'True' ? 'Replace' : Action,
      }));
    },
    async delete(): Promise<void> {
      await cloudFormation.send(new DeleteStackCommand({ StackName }));
      await waitUntilStackDeleteComplete(waiting, { StackName }).catch(withReasons);
    },
    /** The error of creating a stack with only this resource; undefined if it succeeds. */
    async refusal(resource: object): Promise<string | undefined> {
      const named = { StackName: 'alone' };
      const TemplateBody = JSON.stringify({ Resources: { Alone: resource } });
      try {
        await cloudFormation.send(new CreateStackCommand({ ...named, TemplateBody }));
        await waitUntilStackCreateComplete(waiting, named);
        return undefined;
      } catch (error) {
        const { StackEvents = [] } = await cloudFormation
          .send(new DescribeStackEventsCommand(named))
          .catch(() => ({ StackEvents: [] }));
        const reasons = StackEvents.map(({ ResourceStatusReason = '' }) => ResourceStatusReason);
        return `${error} ${reasons.join(' ')}`;
      } finally {
        await cloudFormation.send(new DeleteStackCommand(named));
      }
    },
    async made(): Promise<readonly Made[]> {
      const { StackResources = [] } = await cloudFormation.send(
        new DescribeStackResourcesCommand({ StackName }),
      );
      return StackResources.map((resource) => ({
        id: resource.LogicalResourceId ?? '',
        type: resource.ResourceType ?? '',
        name: resource.PhysicalResourceId ?? '',
        status: resource.ResourceStatus ?? '',
      }));
    },
    async outputs(): Promise<Readonly<Record<string, string>>> {
      const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
      return Object.fromEntries(
        (Stacks[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [`${OutputKey}`, `${OutputValue}`]),
      );
    },
    [Symbol.dispose]() {
      for (const client of [cloudFormation, s3, ssm]) client.destroy();
    },
  };
}

/** The same stack with a new build of each function: bundles with one more line, under new keys. */
export async function rebuilt({ template, assets }: Deployment, folder: string): Promise<Deployment> {
  let text = JSON.stringify(template);
  const others = new Map<string, string>();
  for (const [key, from] of assets) {
    if (!key.endsWith('.zip')) continue;
    const to = join(folder, key);
    await cp(from, to, { recursive: true });
    await appendFile(join(to, 'index.mjs'), '\n// Another build.\n');
    const other = `another-${key}`;
    text = text.replaceAll(key, other);
    others.set(other, to);
  }
  return { template: JSON.parse(text), assets: others };
}
