import { Fn, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Instance } from './config-schema.ts';
import { PlatformSync } from './platform-sync.ts';

/** A stack with one instance and nothing else. */
export class PlatformSyncStack extends Stack {
  constructor(scope: Construct, id: string, instance: Instance, props: StackProps = {}) {
    super(scope, id, {
      ...props,
      description: `platform-sync for ${instance.baseUrl}`,
      terminationProtection: instance.removal === 'protect',
    });
    // `Default` is no part of a logical id.
    const { account: _account, region: _region, ...settings } = instance;
    new PlatformSync(this, 'Default', settings);
  }

  /** Any two zones of the region. Otherwise CDK would look them up in AWS if account and region are known. */
  override get availabilityZones(): string[] {
    return [0, 1].map((index) => Fn.select(index, Fn.getAzs()));
  }
}
