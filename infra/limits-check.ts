import { readFileSync } from 'node:fs';
import {
  type IPolicyValidationContext,
  type IPolicyValidationPlugin,
  type PolicyValidationPluginReport,
  type PolicyViolation,
  Stack,
  Stage,
  Validations,
} from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { limits, MAX_TAGS, MAX_TEMPLATE_BYTES } from './limits.ts';
import { at, type Known, membersOf, type Properties, type Resources } from './template-size.ts';

type Excess = {
  readonly what: string;
  readonly max: number;
  readonly size: number;
  readonly remedy: string;
};

/** Stops synth if a template exceeds a limit that AWS would report only during deployment. */
class LimitsCheck implements IPolicyValidationPlugin {
  readonly name = 'platform-sync limits';
  readonly lengths: ValueLength[] = [];

  validate({ stackTemplates }: IPolicyValidationContext): PolicyValidationPluginReport {
    const longest = new Map<string, number>();
    for (const { of, value, max } of this.lengths) {
      // References to other stacks become Fn::ImportValue only now, at synth.
      const reference = JSON.stringify(Stack.of(of).resolve(value));
      longest.set(reference, Math.max(max, longest.get(reference) ?? 0));
    }
    const violations = stackTemplates.flatMap(({ templatePath }) => violationsIn(templatePath, longest));
    return { success: violations.length === 0, violations };
  }
}

/** A value that is known only at deployment, the construct that has it, and the maximum length of the value. */
export type ValueLength = { readonly of: IConstruct; readonly value: unknown; readonly max: number };

const checks = new WeakMap<IConstruct, LimitsCheck>();

/** Adds the check to the app or the stage of a construct, once, and adds these lengths to it. */
export function checkLimits(scope: IConstruct, lengths: readonly ValueLength[] = []): void {
  const stage = Stage.of(scope);
  if (stage === undefined) return;
  const check = checks.get(stage) ?? new LimitsCheck();
  if (!checks.has(stage)) Validations.of(stage).addPlugins(check);
  checks.set(stage, check);
  check.lengths.push(...lengths);
}

function violationsIn(templatePath: string, longest: ReadonlyMap<string, number>): PolicyViolation[] {
  const text = readFileSync(templatePath, 'utf8');
  const template: unknown = JSON.parse(text);
  const resources = (at(template, 'Resources') ?? {}) as Resources;
  const known = { resources, parameters: (at(template, 'Parameters') ?? {}) as Resources, longest };
  const excesses = [
    ...Object.entries(resources).flatMap(([resource, { Type, Properties }]) =>
      excessOf(String(Type), (Properties ?? {}) as Properties, known).map((excess) => ({
        resource,
        excess,
      })),
    ),
    ...stackExcess(Buffer.byteLength(text)).map((excess) => ({ resource: 'Resources', excess })),
    ...tagExcess(resources),
  ];
  const byLimit = Map.groupBy(excesses, ({ excess: { what, max } }) => `at most ${max} ${what}`);
  return [...byLimit].map(([ruleName, each]) => ({
    ruleName,
    description: `expected ${ruleName}, got ${Math.max(...each.map(({ excess }) => excess.size))}`,
    fix: each[0]?.excess.remedy ?? '',
    severity: 'error',
    violatingResources: each.map(({ resource }) => ({
      resourceLogicalId: resource,
      templatePath,
      locations: [],
    })),
  }));
}

const excessOf = (type: string, properties: Properties, known: Known): readonly Excess[] =>
  limits
    .filter((limit) => limit.type === type)
    .map(({ sizeIn, ...limit }) => ({ ...limit, size: sizeIn(properties, known) }))
    .filter(({ size, max }) => size > max);

/** All resources have the tags of the stack, so checking the one with the most tags is enough. */
function tagExcess(resources: Resources) {
  const counts = Object.entries(resources).map(([resource, { Properties }]) => ({
    resource,
    size: membersOf(at(Properties, 'Tags')),
  }));
  const largest = counts.reduce((a, b) => (b.size > a.size ? b : a), { resource: '', size: 0 });
  return exceeding('tags', MAX_TAGS, largest.size, 'configure fewer tags').map((excess) => ({
    resource: largest.resource,
    excess,
  }));
}

const FEWER = 'move some of the schedules and event rules to a second instance';

const stackExcess = (bytes: number): readonly Excess[] =>
  exceeding('bytes of template', MAX_TEMPLATE_BYTES, bytes, FEWER);

const exceeding = (what: string, max: number, size: number, remedy: string): readonly Excess[] =>
  size > max ? [{ what, max, size, remedy }] : [];
