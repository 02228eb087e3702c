import type { LogGroupProps } from 'aws-cdk-lib/aws-logs';

/** What every log group has. */
export type LogSettings = Pick<
  LogGroupProps,
  'retention' | 'removalPolicy' | 'encryptionKey' | 'logGroupClass'
>;
