import type { Resource, Template } from '../../local-aws/stack/template.ts';

/*
 * What is removed from or changed in the template for MiniStack, and why. Everything else is as `cdk synth` wrote it.
 * An entry that matches nothing in the template fails, and so does one for a resource that MiniStack can create.
 */

type LeftOut = {
  readonly type: string;
  /** Only resources that have this property. Default: all of the type. */
  readonly property?: string;
  readonly why: string;
  /** MiniStack's error message for such a resource. */
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
  /** The base URL of the platform. The template contains the origin of `from`. */
  readonly baseUrl: { readonly from: string; readonly to: string };
  /** The schedule of the snapshot of calculations: soon after the deployment instead of at night. */
  readonly cron: { readonly from: string; readonly to: string };
  /** The timeout of the snapshot function in seconds, so short that a run takes several slices. */
  readonly snapshotTimeout: number;
};

/** Reduces the template to what MiniStack can create, for a test of minutes. Throws if an entry or a change matches nothing. */
export function adaptTemplate(template: Template, changes: Changes): Template {
  for (const entry of leftOut)
    if (!Object.values(template.Resources).some((resource) => isLeftOut(entry, resource)))
      throw new Error(`left out of the template: it has no ${entry.type} ${entry.property ?? ''}`);
  const remaining = Object.entries(template.Resources).filter(
    ([, resource]) => !leftOut.some((entry) => isLeftOut(entry, resource)),
  );
  const Resources = Object.fromEntries(
    remaining.map(([id, resource]) => [
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

/** Replaces references to removed resources by texts: the dashboard shows alarms by their ARN. */
function withoutReferences(value: unknown, remaining: ReadonlySet<string>, { Resources }: Template): unknown {
  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(visit);
    if (typeof part !== 'object' || part === null) return part;
    const { Ref, 'Fn::GetAtt': attribute } = part as {
      Ref?: string;
      'Fn::GetAtt'?: readonly [string, string];
    };
    const id = Ref ?? attribute?.[0] ?? '';
    if (id in Resources && !remaining.has(id)) return `left-out-${id}`;
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, visit(inner)]));
  };
  return visit(value);
}
