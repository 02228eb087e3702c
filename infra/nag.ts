import { type CfnResource, Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Acknowledges a finding of cdk-nag's AwsSolutions with a reason; `finding` is the rule, such as `S1`. */
export function acknowledge(construct: IConstruct, finding: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions-${finding}`, reason });
}

/** Acknowledges a wildcard in the resources of a statement; `resource` is written as cdk-nag prints it. */
export function acknowledgeWildcard(construct: IConstruct, resource: string, reason: string): void {
  acknowledge(construct, `IAM5[Resource::${resource}]`, reason);
}

/** A resource's ARN with a suffix, as a finding prints it. */
export const belowArn = (resource: IConstruct, suffix: string) =>
  `<${Stack.of(resource).getLogicalId(resource.node.defaultChild as CfnResource)}.Arn>${suffix}`;

/** An ARN that is joined from strings and references, as a finding prints it. */
export const arnText = (scope: IConstruct, arn: string): string => textOf(Stack.of(scope).resolve(arn));

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (typeof value !== 'object' || value === null) return String(value);
  const [[name, of] = ['', undefined]] = Object.entries(value);
  if (name === 'Fn::Join' && Array.isArray(of) && Array.isArray(of[1])) return of[1].map(textOf).join(of[0]);
  if (name === 'Fn::ImportValue') return textOf(of);
  if (name === 'Fn::GetAtt' && Array.isArray(of)) return `<${of.join('.')}>`;
  return name === 'Ref' ? `<${of}>` : JSON.stringify(value);
}
