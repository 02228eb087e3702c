import { type Condition, type Context, matchesPattern, satisfies } from './conditions.ts';

/** A statement of a policy, with its references resolved. */
export type Statement = {
  readonly Effect: string;
  /** Of policies of resources, and of who may assume a role. */
  readonly Principal?: string | Readonly<Record<string, string | readonly string[]>>;
  readonly Action: string | readonly string[];
  /** Absent where it can only be what the policy belongs to. */
  readonly Resource?: string | readonly string[];
  readonly Condition?: Condition;
};

export type PolicyDocument = { readonly Statement: Statement | readonly Statement[] };

/** What a request requires of its caller. */
export type Need = {
  readonly action: string;
  readonly resource: string;
  /** What the conditions of a statement may require. */
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

/** Whether a statement covers the needed action, whatever its effect. */
export const isAbout = (
  { Action, Resource = '*', Condition: condition = {} }: Statement,
  { action, resource, context }: Need,
): boolean =>
  [Action].flat().some((each) => matchesPattern(action.toLowerCase(), each.toLowerCase())) &&
  [Resource].flat().some((each) => matchesPattern(resource, each)) &&
  satisfies(context, condition);
