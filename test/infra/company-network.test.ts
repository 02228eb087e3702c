import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../infra/config.ts';
import { endpointServices } from '../../infra/endpoints.ts';
import { PlatformSync } from '../../infra/index.ts';
import { appOf, full, minimal, propertiesOf, templateOf, within } from './instances.ts';

const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/11111111-7d53-4c0d-9d4a-0d8c7f3f1a11';

const variablesOf = (instance: object): readonly Readonly<Record<string, string>>[] =>
  propertiesOf(templateOf(instance), 'AWS::Lambda::Function').map(({ Environment }) => Environment.Variables);

const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
const certificates = join(folder, 'acme.pem');
writeFileSync(certificates, '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');

describe('a bucket that requires encryption', () => {
  const { key: _, ...unencrypted } = within;

  test.each([
    ['AES256', { EncryptionOption: 'SSE_S3' }],
    ['aws:kms', { EncryptionOption: 'SSE_KMS', KmsKey: expect.anything() }],
    [`aws:kms:${KEY}`, { EncryptionOption: 'SSE_KMS', KmsKey: KEY }],
  ])('gets objects with the encryption %s from every function and from Athena', (encryption, results) => {
    const instance = { ...unencrypted, encryption };
    const [group] = propertiesOf(templateOf(instance), 'AWS::Athena::WorkGroup');

    for (const { SYNC_ENCRYPTION } of variablesOf(instance)) expect(SYNC_ENCRYPTION).toBe(encryption);
    expect(group?.WorkGroupConfiguration.ResultConfiguration.EncryptionConfiguration).toEqual(results);
  });

  test('lets roles that write use the configured key, and lets them read what the bucket’s key encrypted', () => {
    const template = templateOf({ ...within, encryption: `aws:kms:${KEY}` });
    const policies = propertiesOf(template, 'AWS::IAM::Policy').map(({ PolicyDocument }) => PolicyDocument);
    type Statement = { readonly Action: string | readonly string[]; readonly Resource: unknown };
    const statements = policies.flatMap(({ Statement }) => Statement as readonly Statement[]);
    const usesOf = (key: string) =>
      new Set(
        statements
          .filter(
            ({ Action, Resource }) =>
              [Resource].flat().includes(key) && !JSON.stringify(Action).includes('ReEncrypt'),
          )
          .flatMap(({ Action }) => Action),
      );

    expect([...usesOf(KEY)].sort()).toEqual(['kms:Decrypt', 'kms:GenerateDataKey']);
    expect(usesOf(within.key)).toContain('kms:Decrypt');
  });
});

test('a key of the same app can be configured as the key for objects', () => {
  const stack = new Stack(
    new App({ context: { [BUNDLING_STACKS]: [] }, analyticsReporting: false }),
    'theirs',
  );
  const key = new Key(stack, 'Key');
  const bucket = new Bucket(stack, 'Lake');

  new PlatformSync(stack, 'Sync', { baseUrl: minimal.baseUrl, bucket, encryption: `aws:kms:${key.keyArn}` });

  const [{ Environment } = {}] = propertiesOf(Template.fromStack(stack), 'AWS::Lambda::Function');
  expect(Environment.Variables.SYNC_ENCRYPTION).toEqual({
    'Fn::Join': ['', ['aws:kms:', { 'Fn::GetAtt': [expect.stringMatching(/^Key/), 'Arn'] }]],
  });
});

describe('VPC endpoints', () => {
  const { securityGroups: _, ...vpc } = within.vpc;
  const endpointsOf = (instance: object) => propertiesOf(templateOf(instance), 'AWS::EC2::VPCEndpoint');

  test('are created if they are configured, once each, in the subnets of the functions, and admit only the functions', () => {
    const instance = { ...within, vpc, endpoints: ['sqs', 'lambda', 'sqs'] };

    expect(endpointsOf(within)).toEqual([]);
    expect(endpointsOf(instance)).toEqual(
      ['sqs', 'lambda'].map((service) =>
        expect.objectContaining({
          ServiceName: `com.amazonaws.eu-central-1.${service}`,
          SubnetIds: within.vpc.subnets,
          PrivateDnsEnabled: true,
          VpcEndpointType: 'Interface',
        }),
      ),
    );
    const ingress = propertiesOf(templateOf(instance), 'AWS::EC2::SecurityGroup').flatMap(
      ({ SecurityGroupIngress = [] }) => SecurityGroupIngress,
    );
    expect(ingress).toEqual([
      expect.objectContaining({ FromPort: 443, ToPort: 443, SourceSecurityGroupId: expect.anything() }),
    ]);
  });

  test('can be created for each service that the functions call, except for services with gateways', () => {
    const code = globSync('{lib,functions}/**/*.ts', { exclude: ['lib/sandbox/**'] });
    const called = code.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/service: '([A-Z0-9_]+)'/g)].map(([, name = '']) => name),
    );
    const named: Readonly<Record<string, string>> = {
      SECRETS_MANAGER: 'secretsmanager',
      EVENTBRIDGE: 'events',
    };
    const others = ['S3', 'DYNAMODB', 'CLOUDFORMATION'];

    const services = new Set(called.filter((name) => !others.includes(name)));
    expect([...services].map((name) => named[name] ?? name.toLowerCase()).sort()).toEqual(
      endpointServices.toSorted(),
    );
  });
});

describe('a proxy and certificates', () => {
  const proxy = { url: 'http://proxy.example.com:3128', except: '.amazonaws.com' };

  test('are in the environment of every function, and its layer has the file of certificates', () => {
    const instance = { ...full, name: 'out', proxy, certificates };
    const template = templateOf(instance);

    for (const variables of variablesOf(instance))
      expect(variables).toMatchObject({
        HTTPS_PROXY: proxy.url,
        NO_PROXY: '.amazonaws.com',
        NODE_EXTRA_CA_CERTS: '/opt/acme.pem',
      });
    template.resourceCountIs('AWS::Lambda::LayerVersion', 1);
    for (const { Layers } of propertiesOf(template, 'AWS::Lambda::Function')) expect(Layers).toHaveLength(1);
  });

  test('are in no environment by default', () => {
    for (const variables of variablesOf(full))
      expect(Object.keys(variables).filter((name) => /PROXY|CERTS/.test(name))).toEqual([]);
  });

  test('cause the security group of the stack to open the proxy’s port', () => {
    const { securityGroups: _, ...vpc } = within.vpc;
    const [group] = propertiesOf(templateOf({ ...within, vpc, proxy }), 'AWS::EC2::SecurityGroup');

    expect(group?.SecurityGroupEgress.map(({ FromPort }: { FromPort: number }) => FromPort)).toEqual([
      443, 3_128,
    ]);
  });
});

test.each([
  [{ encryption: 'AES256' }, 'encryption: allowed only with a bucket'],
  [
    { bucket: 'b-1', encryption: 'aws:kms:alias/mine' },
    'encryption: expected AES256, aws:kms, or aws:kms: with the ARN',
  ],
  [{ endpoints: ['sqs'] }, 'endpoints: allowed only with a vpc'],
  [{ vpc: within.vpc, endpoints: ['s3'] }, 'endpoints.0: expected one of sqs, lambda'],
  [{ proxy: { url: 'http://user:word@proxy.example.com' } }, 'proxy.url: expected the address of a proxy'],
  [{ proxy: { url: 'socks5://proxy.example.com' } }, 'proxy.url: expected the address of a proxy'],
  [{ certificates: join(folder, 'none.pem') }, 'certificates: expected a readable file'],
  [{ certificates: 'package.json' }, 'certificates: expected PEM certificates in package.json, got none'],
])('a wrong network setting is a fault: %j', (wrong, fault) => {
  expect(() => appOf({ ...minimal, ...wrong })).toThrow(ConfigError);
  expect(() => appOf({ ...minimal, ...wrong })).toThrow(fault);
});
