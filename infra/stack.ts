import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Instance } from './config-schema.ts';
import { PlatformSync } from './platform-sync.ts';

/** A stack with nothing but one instance. */
export class PlatformSyncStack extends Stack {
  constructor(scope: Construct, id: string, instance: Instance, props: StackProps = {}) {
    super(scope, id, { ...props, description: `platform-sync for ${instance.baseUrl}` });
    // `Default` is no part of a logical id: what earlier versions deployed keeps its own.
    new PlatformSync(this, 'Default', instance);
  }
}
