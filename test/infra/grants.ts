import type { ServiceRequest } from '../local-aws/services/gateway.ts';
import { resourcesOf, type Template } from '../local-aws/stack/template.ts';
import type { Resolve } from '../local-aws/stack/template-values.ts';
import { type Need, needsOf } from './needed-actions.ts';

type Statement = {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
};

type Policy = {
  readonly Roles?: readonly string[];
  readonly PolicyDocument: { readonly Statement: readonly Statement[] };
};

type Deployed = { readonly template: Template; readonly resolve: Resolve };

/** What the functions requested without permission, each once, as a line. */
export function refusalsOf(requests: readonly ServiceRequest[], deployed: Deployed): readonly string[] {
  const { template, resolve } = deployed;
  const lines = resourcesOf(template, 'AWS::Lambda::Function').flatMap(([id, { Properties }]) => {
    const role = String(resolve(Properties['Role'])).split('/').at(-1) ?? '';
    const own = requests.filter(({ by }) => by === id);
    return refused(own, statementsOf(role, deployed)).map(
      (need) => `${id} requested ${need}, which no statement of its role allows`,
    );
  });
  return lines.sort();
}

/** What whoever has managed policies, by their logical ids, requested without permission, each once, as a line. */
export function refusalsOfPeople(
  requests: readonly ServiceRequest[],
  policies: RegExp,
  { template, resolve }: Deployed,
): readonly string[] {
  const statements = resourcesOf(template, 'AWS::IAM::ManagedPolicy')
    .filter(([id]) => policies.test(id))
    .flatMap(([, { Properties }]) => (resolve(Properties) as Policy).PolicyDocument.Statement);
  return refused(requests, statements);
}

/** What these requests need that no statement allows, each once. */
const refused = (
  requests: readonly ServiceRequest[],
  statements: readonly Statement[],
): readonly string[] => {
  const needs = requests
    .flatMap(needsOf)
    .filter((need) => !statements.some((statement) => allows(statement, need)))
    .map(({ action, resource }) => `${action} on ${resource}`);
  return [...new Set(needs)].sort();
};

const statementsOf = (role: string, { template, resolve }: Deployed): readonly Statement[] =>
  resourcesOf(template, 'AWS::IAM::Policy')
    .map(([, { Properties }]) => resolve(Properties) as Policy)
    .filter(({ Roles = [] }) => Roles.includes(role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);

function allows({ Effect, Action, Resource, Condition = {} }: Statement, need: Need): boolean {
  if (Effect !== 'Allow') throw new Error(`expected statements that allow, got ${Effect}`);
  const { StringEquals = {}, StringLike = {}, ...others } = Condition;
  if (Object.keys(others).length > 0)
    throw new Error(`expected StringEquals or StringLike, got ${Object.keys(others)}`);
  return (
    [Action].flat().some((action) => matchesForm(need.action, action)) &&
    [Resource].flat().some((resource) => matchesForm(need.resource, resource)) &&
    Object.entries(StringEquals).every(([key, values]) =>
      [values].flat().includes(need.context[key] ?? ''),
    ) &&
    Object.entries(StringLike).every(([key, values]) =>
      [values].flat().some((form) => matchesForm(need.context[key] ?? '', form)),
    )
  );
}

/** Whether a text matches a form of IAM, in which `*` is any text and `?` any character. */
const matchesForm = (text: string, form: string): boolean =>
  new RegExp(`^${RegExp.escape(form).replaceAll('\\*', '.*').replaceAll('\\?', '.')}$`, 's').test(text);
