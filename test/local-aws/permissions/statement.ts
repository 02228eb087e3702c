import { type Condition, type Context, matchesPattern, satisfies } from './conditions.ts';

/** A statement of a policy, with its references resolved. */
export type Statement = {
  readonly Effect: string;
  /** Only in policies of resources and in trust policies of roles. */
  readonly Principal?: string | Readonly<Record<string, string | readonly string[]>>;
  readonly Action: string | readonly string[];
  /** Absent if it can only be the resource that the policy belongs to. */
  readonly Resource?: string | readonly string[];
  readonly Condition?: Condition;
};

export type PolicyDocument = { readonly Statement: Statement | readonly Statement[] };

/** A permission that a request requires. */
export type Need = {
  readonly action: string;
  readonly resource: string;
  /** The values that conditions of statements are compared with. */
  readonly context: Context;
};

const MEMBERS = ['Sid', 'Effect', 'Principal', 'Action', 'Resource', 'Condition'];

/** The statements of a document. Throws for one with a member that is not evaluated here, such as `NotAction`. */
export function statementsIn({ Statement: statements }: PolicyDocument): readonly Statement[] {
  for (const statement of [statements].flat())
    for (const member of Object.keys(statement))
      if (!MEMBERS.includes(member)) throw new Error(`expected ${MEMBERS} in a statement, got ${member}`);
  return [statements].flat();
}

/** Whether a statement covers the needed action, whether it allows or denies it. */
export const isAbout = (
  { Action, Resource = '*', Condition: condition = {} }: Statement,
  { action, resource, context }: Need,
): boolean =>
  [Action].flat().some((each) => matchesPattern(action.toLowerCase(), each.toLowerCase())) &&
  [Resource].flat().some((each) => matchesPattern(resource, each)) &&
  satisfies(context, condition);
