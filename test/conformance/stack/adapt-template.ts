import type { Resource, Template } from '../../local-aws/stack/template.ts';

/*
 * What the template that MiniStack deploys does not have, or has in another way, and why. All the rest is as `cdk synth`
 * wrote it. An entry that fits nothing in the template fails, and so does one for a resource that MiniStack can make.
 */

type LeftOut = {
  readonly type: string;
  /** Only resources that have this property; all of the type if absent. */
  readonly property?: string;
  readonly why: string;
  /** What MiniStack says of such a resource. */
  readonly refused: string;
};

export const leftOut: readonly LeftOut[] = [
  {
    type: 'AWS::Athena::NamedQuery',
    why: 'MiniStack does not know saved queries; the suite sql runs each of them in Trino.',
    refused: 'AWS::Athena::NamedQuery',
  },
  {
    type: 'AWS::Logs::QueryDefinition',
    why: 'MiniStack does not know saved log queries.',
    refused: 'AWS::Logs::QueryDefinition',
  },
  {
    type: 'AWS::CloudWatch::Alarm',
    property: 'Metrics',
    why: 'MiniStack has no alarms by metric math; cfn-lint checks their properties.',
    refused: 'metric math',
  },
];

export const isLeftOut = ({ type, property }: LeftOut, { Type, Properties }: Resource): boolean =>
  Type === type && (property === undefined || property in (Properties ?? {}));

type Changes = {
  /** Where the platform is: the template has the origin of `from`. */
  readonly baseUrl: { readonly from: string; readonly to: string };
  /** The cron by which the calculations are taken: a time soon after the deployment, instead of the next night. */
  readonly cron: { readonly from: string; readonly to: string };
  /** The time limit of an invocation of the snapshot function, in seconds, by which a run of seconds has several slices. */
  readonly snapshotTimeout: number;
};

/** The template with what MiniStack can make, for a test of minutes. Throws for an entry or a change that fits nothing. */
export function adaptTemplate(template: Template, changes: Changes): Template {
  for (const entry of leftOut)
    if (!Object.values(template.Resources).some((resource) => isLeftOut(entry, resource)))
      throw new Error(`left out of the template: it has no ${entry.type} ${entry.property ?? ''}`);
  const kept = Object.entries(template.Resources).filter(
    ([, resource]) => !leftOut.some((entry) => isLeftOut(entry, resource)),
  );
  const Resources = Object.fromEntries(
    kept.map(([id, resource]) => [
      id,
      isSnapshotFunction(id, resource) ? withTimeout(resource, changes.snapshotTimeout) : resource,
    ]),
  );
  const text = JSON.stringify(
    withoutReferences({ ...template, Resources }, new Set(Object.keys(Resources)), template),
  );
  return JSON.parse(replaced(replaced(text, changes.baseUrl), changes.cron));
}

const isSnapshotFunction = (id: string, { Type }: Resource): boolean =>
  Type === 'AWS::Lambda::Function' && id.startsWith('SnapshotsSnapshot');

const withTimeout = (resource: Resource, Timeout: number): Resource => ({
  ...resource,
  Properties: { ...resource.Properties, Timeout },
});

function replaced(text: string, { from, to }: { readonly from: string; readonly to: string }): string {
  if (!text.includes(from)) throw new Error(`expected ${from} in the template`);
  return text.replaceAll(from, to);
}

/** References to resources that are left out are texts: the dashboard shows alarms by their ARN. */
function withoutReferences(value: unknown, kept: ReadonlySet<string>, { Resources }: Template): unknown {
  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(visit);
    if (typeof part !== 'object' || part === null) return part;
    const { Ref, 'Fn::GetAtt': attribute } = part as {
      Ref?: string;
      'Fn::GetAtt'?: readonly [string, string];
    };
    const id = Ref ?? attribute?.[0] ?? '';
    if (id in Resources && !kept.has(id)) return `left-out-${id}`;
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, visit(inner)]));
  };
  return visit(value);
}
