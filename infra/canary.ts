import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Instance } from './config-schema.ts';
import { acknowledge } from './nag.ts';

const CONFIGS = {
  5: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  10: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
  15: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  30: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
} as const satisfies Record<NonNullable<Instance['canaryMinutes']>, unknown>;

/**
 * The alias's name. It is a constant, since a reference to the alias would be a cycle: the alias depends on the alarm,
 * and the alarm's metric names the alias.
 */
const ALIAS = 'live';

/**
 * Creates an alias of a function by which a new version gets a tenth of the invocations for some minutes.
 * CloudFormation waits for them: if an invocation fails, the function and the stack are rolled back. The alarm watches
 * only the new version, so that failures of the old version do not stop a deployment that fixes them.
 */
export function canaryOf(of: LambdaFunction, minutes: NonNullable<Instance['canaryMinutes']>): Alias {
  const { currentVersion: version } = of;
  const alias = new Alias(of, 'Live', { aliasName: ALIAS, version });
  const errors = new Alarm(of, 'CanaryErrors', {
    alarmDescription: 'A new version fails: CodeDeploy rolls it back. No notification is sent.',
    metric: new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'Errors',
      dimensionsMap: {
        FunctionName: of.functionName,
        Resource: `${of.functionName}:${ALIAS}`,
        ExecutedVersion: version.version,
      },
      statistic: Stats.SUM,
      period: Duration.minutes(1),
    }),
    threshold: 0,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    // Lambda dates an error at the start of its invocation, and reports it at the end.
    evaluationPeriods: minutes,
    datapointsToAlarm: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
  const group = new LambdaDeploymentGroup(of, 'Canary', {
    alias,
    deploymentConfig: CONFIGS[minutes],
    alarms: [errors],
  });
  if (group.role !== undefined)
    acknowledge(
      group.role,
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      'AWS’s own policy for CodeDeploy: it changes aliases and reads alarms.',
    );
  return alias;
}
