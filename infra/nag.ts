import { type CfnResource, Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Records why a finding of cdk-nag's AwsSolutions is not a fault here; `finding` is the rule, such as `S1`. */
export function acknowledge(construct: IConstruct, finding: string, reason: string): void {
  Validations.of(construct).acknowledge({ id: `AwsSolutions-${finding}`, reason });
}

/** The same for a wildcard in a statement's resources, as the finding names it. */
export function acknowledgeWildcard(construct: IConstruct, resource: string, reason: string): void {
  acknowledge(construct, `IAM5[Resource::${resource}]`, reason);
}

/** How a finding names what is below a resource's ARN. */
export const belowArn = (resource: IConstruct, suffix: string) =>
  `<${Stack.of(resource).getLogicalId(resource.node.defaultChild as CfnResource)}.Arn>${suffix}`;

/** How a finding names an ARN, as far as it is joined from texts and references. */
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
