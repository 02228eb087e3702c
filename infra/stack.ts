import { Fn, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Instance } from './config-schema.ts';
import { PlatformSync } from './platform-sync.ts';

/** A stack that has only one instance. */
export class PlatformSyncStack extends Stack {
  constructor(scope: Construct, id: string, instance: Instance, props: StackProps = {}) {
    super(scope, id, {
      ...props,
      description: `platform-sync for ${instance.baseUrl}`,
      terminationProtection: instance.removal === 'protect',
    });
    // CDK leaves `Default` out of logical ids.
    const { account: _account, region: _region, ...settings } = instance;
    new PlatformSync(this, 'Default', settings);
  }

  /** The first two zones of the region. If account and region are known, CDK would look the zones up in AWS instead. */
  override get availabilityZones(): string[] {
    return [0, 1].map((index) => Fn.select(index, Fn.getAzs()));
  }
}
