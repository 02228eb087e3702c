import { Duration } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  type DurableConfig,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionEnvironment } from '../lib/contract.ts';
import { HANDLER, lambdaCodeOf } from './bundles.ts';
import type { LogSettings } from './log-settings.ts';
import type { Network } from './network.ts';

/** The props that all functions of a stack share. */
export type FunctionDefaults = {
  readonly network: Network | undefined;
  readonly logs: LogSettings;
};

export type SyncFunctionProps = FunctionDefaults & {
  /** The function's folder in `functions`. */
  readonly handler: string;
  readonly description: string;
  readonly environment: FunctionEnvironment;
  readonly timeout: Duration;
  readonly memoryMb: number;
  readonly retryAttempts?: number;
  readonly deadLetterQueue?: IQueue;
  readonly durableConfig?: DurableConfig;
};

/** A function with its log and its role. Without further grants, the role may only write the log. */
export class SyncFunction extends Construct {
  readonly function: LambdaFunction;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: SyncFunctionProps) {
    super(scope, id);
    const { handler, network, logs, memoryMb, environment, ...rest } = props;
    const logGroup = new LogGroup(this, 'Log', logs);
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(this.role);
    network?.grantConnect(this.role);
    this.function = new LambdaFunction(this, 'Function', {
      ...rest,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: HANDLER,
      code: lambdaCodeOf(handler),
      memorySize: memoryMb,
      environment: { ...environment },
      role: this.role,
      logGroup,
      ...logging,
      ...(network === undefined ? {} : placeIn(network)),
    });
  }
}

/**
 * The format of the logs. With JSON, Lambda's own lines (start, report, time-out, uncaught errors) are JSON like
 * the function's lines, so that queries find fields in every line. The level is TRACE, so that only LOG_LEVEL decides what is
 * logged: by default, Lambda would drop lines below INFO.
 */
const logging = {
  loggingFormat: LoggingFormat.JSON,
  applicationLogLevelV2: ApplicationLogLevel.TRACE,
  systemLogLevelV2: SystemLogLevel.INFO,
} as const;

const placeIn = ({ vpc, subnets, securityGroups }: Network) => ({
  vpc,
  securityGroups,
  ...(subnets === undefined ? {} : { vpcSubnets: subnets }),
});

/** The maximum timeout that Lambda allows for a function. */
export const MAX_TIMEOUT = Duration.minutes(15);
