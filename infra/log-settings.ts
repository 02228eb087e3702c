import type { LogGroupProps } from 'aws-cdk-lib/aws-logs';

/** The settings of every log group. */
export type LogSettings = Pick<
  LogGroupProps,
  'retention' | 'removalPolicy' | 'encryptionKey' | 'logGroupClass'
>;
