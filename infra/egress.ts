import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { Code, type Function as LambdaFunction, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { ConfigError } from './config.ts';
import type { CompleteSettings } from './config-schema.ts';

type EgressProps = Pick<CompleteSettings, 'proxy' | 'certificates'>;

/**
 * Makes functions call through a proxy, and trust further certificates. Node reads the certificate file from a layer at
 * startup. Throws `ConfigError` if the file has no certificate.
 */
export function configureEgress(
  scope: Construct,
  functions: readonly LambdaFunction[],
  { proxy, certificates }: EgressProps,
) {
  const layer = certificates === undefined ? undefined : layerOf(scope, certificates);
  const variables = {
    ...(proxy && { HTTPS_PROXY: proxy.url }),
    ...(proxy?.except !== undefined && { NO_PROXY: proxy.except }),
    ...(certificates !== undefined && { NODE_EXTRA_CA_CERTS: `/opt/${basename(certificates)}` }),
  };
  for (const each of functions) {
    for (const [name, value] of Object.entries(variables)) each.addEnvironment(name, value);
    if (layer !== undefined) each.addLayers(layer);
  }
}

function layerOf(scope: Construct, certificates: string): LayerVersion {
  const file = resolve(certificates);
  let pem: string;
  try {
    pem = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`certificates: expected a readable file, got ${certificates}: ${error}`]);
  }
  if (!/^-----BEGIN CERTIFICATE-----$/m.test(pem))
    throw new ConfigError([`certificates: expected PEM certificates in ${certificates}, got none`]);
  return new LayerVersion(scope, 'Certificates', {
    description: 'Certificates that the functions trust in addition to the public ones',
    code: Code.fromAsset(dirname(file), { exclude: ['*', `!${basename(file)}`] }),
  });
}
