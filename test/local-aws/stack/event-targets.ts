import { matchesPattern } from '../../infra/event-pattern/match-event.ts';
import { parsePattern } from '../../infra/event-pattern/parse-pattern.ts';
import type { PatternFault } from '../../infra/event-pattern/pattern.ts';
import type { Access } from '../permissions/access.ts';
import type { Deployed } from '../permissions/policies.ts';
import { resourcesOf } from './template.ts';

/** The target of an event: a function, which gets the event unchanged, or a queue, which gets a message. */
export type EventTarget =
  | { readonly kind: 'function'; readonly id: string; readonly event: object }
  | { readonly kind: 'queue'; readonly queue: string; readonly body: string };

type RuleProperties = {
  readonly EventBusName?: string;
  readonly EventPattern: object;
  readonly Targets: readonly Target[];
};

type Target = {
  readonly Arn: string;
  readonly InputTransformer?: { readonly InputTemplate: string; readonly InputPathsMap?: object };
};

/**
 * The targets of all rules that match an event on the account's default bus. Throws if EventBridge would reject a rule
 * or may not use a target, and for a template with unknown variables.
 */
export function targetsOf(
  event: object,
  { template, resolve, access }: Deployed & { readonly access: Access },
): readonly EventTarget[] {
  return resourcesOf(template, 'AWS::Events::Rule').flatMap(([id, { Properties }]) => {
    const { EventBusName = 'default', EventPattern, Targets } = resolve(Properties) as RuleProperties;
    if (EventBusName !== 'default') return [];
    const parsed = parsePattern(EventPattern);
    if (parsed.kind === 'faults') throw new Error(`${id}: ${parsed.faults.map(faultText).join('; ')}`);
    if (!matchesPattern(parsed.pattern, JSON.stringify(event))) return [];
    const sourceArn = String(resolve({ 'Fn::GetAtt': [id, 'Arn'] }));
    return Targets.map((target) => {
      const found = targetOf(target, event);
      const refusal = access.refusalOfService(
        { action: ACTIONS[found.kind], resource: target.Arn },
        { service: 'events.amazonaws.com', sourceArn },
      );
      if (refusal !== undefined) throw new Error(`${id}: ${refusal}`);
      return found;
    });
  });
}

const ACTIONS = { function: 'lambda:InvokeFunction', queue: 'sqs:SendMessage' } as const;

function targetOf({ Arn, InputTransformer }: Target, event: object): EventTarget {
  const [, service, name = ''] = /^arn:aws:(lambda|sqs):[^:]+:\d+:(?:function:)?([^:]+)$/.exec(Arn) ?? [];
  if (service === 'lambda' && InputTransformer === undefined) return { kind: 'function', id: name, event };
  if (service !== 'sqs') throw new Error(`expected a function without a transformer, or a queue, got ${Arn}`);
  return { kind: 'queue', queue: name, body: bodyOf(InputTransformer, event) };
}

/** The message: the template, in which the JSON of the whole event replaces its variable. */
function bodyOf(transformer: Target['InputTransformer'], event: object): string {
  if (transformer === undefined) return JSON.stringify(event);
  const { InputTemplate, InputPathsMap } = transformer;
  if (InputPathsMap !== undefined) throw new Error('expected a template without paths of its own');
  const body = InputTemplate.replaceAll(/"?<([^<>]*)>"?/g, (variable) => {
    if (variable !== '<aws.events.event.json>')
      throw new Error(`expected <aws.events.event.json>, got ${variable}`);
    return JSON.stringify(event);
  });
  // Throw for invalid JSON: what EventBridge does with such a template is not documented.
  JSON.parse(body);
  return body;
}

const faultText = ({ path, expected, got }: PatternFault) =>
  `${['EventPattern', ...path].join('.')}: expected ${expected}, got ${JSON.stringify(got)}`;
