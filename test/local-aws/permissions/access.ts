import { ACCOUNT, credentials } from '../identity.ts';
import { type Keys, keyNeedsOf, ownerOf } from './key-needs.ts';
import {
  needOfMissing,
  needsOf,
  needsOfCopiedTags,
  type SignedRequest,
  sourceOf,
  withContext,
} from './needed-actions.ts';
import { type Deployed, type Identity, identityOf, keysOf, resourcePoliciesOf } from './policies.ts';
import { isAbout, type Need, type Statement } from './statement.ts';

/** An action that was allowed. `by`: the logical id of the role, or of the policy for people, that allowed it. */
export type Call = { readonly by: string; readonly action: string; readonly resource: string };

/** A service of AWS that acts for something of the stack, such as a rule. */
type ServicePrincipal = { readonly service: string; readonly sourceArn: string };

type Action = Pick<Need, 'action' | 'resource'>;

/**
 * Decides who may do what in a stack. The methods `refusal…` return the message of the refusal, or undefined if the
 * action is allowed. `by` is an access key id. The account's owner may do everything.
 */
export type Access = {
  /** Called before a request is executed. `hasTags` returns whether the object that it copies has tags. */
  refusal(request: SignedRequest, by: string, hasTags: () => Promise<boolean>): Promise<string | undefined>;
  /** Called after a request to read an object that does not exist. */
  refusalOfMissing(request: SignedRequest, by: string): string | undefined;
  /** The refusal of an action that Lambda or Scheduler takes under a role. */
  refusalOf(action: Action, by: string): string | undefined;
  /** The refusal of an action that a service takes under its own name: only the resource's own policy can allow it. */
  refusalOfService(action: Action, principal: ServicePrincipal): string | undefined;
  /** The allowed calls so far, each once. */
  calls(): readonly Call[];
  /** Each refusal so far, as a line. */
  refusals(): readonly string[];
  /** Additional statements for every role and person; a statement that denies restricts all of them. */
  readonly added: Statement[];
};

/** `keys`: the keys of encrypted resources outside the template, by the ARN of the resource. */
export type AccessOptions = Deployed & { readonly keys?: Keys };

/**
 * Evaluates a template's statements, of identities and of resources, as AWS does within one account. Source:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
 */
export function createAccess({ keys = {}, ...deployed }: AccessOptions): Access {
  const identities = new Map<string, Identity>();
  const attached = resourcePoliciesOf(deployed);
  const keyOf = { ...keysOf(deployed), ...keys };
  const calls = new Map<string, Call>();
  const refusals: string[] = [];
  const added: Statement[] = [];

  function identity(by: string): Identity {
    const found = identities.get(by) ?? identityOf(by, deployed);
    identities.set(by, found);
    return found;
  }

  function refused(needs: readonly Need[], by: string): string | undefined {
    if (by === credentials.accessKeyId) return undefined;
    const caller = identity(by);
    for (const plain of needs.flatMap((need) => [need, ...keyNeedsOf(need, keyOf)])) {
      const need = { ...plain, context: { ...plain.context, 'aws:PrincipalArn': caller.arn } };
      const why = whyNot(need, caller);
      if (why !== undefined) return refuse(need, { by, arn: caller.arn, why });
      for (const owner of caller.owners) record({ by: owner, action: need.action, resource: need.resource });
    }
    return undefined;
  }

  function whyNot(need: Need, { arn, statements }: Identity): string | undefined {
    const own = [...statements, ...added].filter((statement) => isAbout(statement, need));
    const ofResource = (attached.get(ownerOf(need.resource)) ?? []).filter((each) => isAbout(each, need));
    const named = ofResource.filter(({ Principal }) => names(Principal, 'AWS', arn));
    if (own.some(isDeny)) return 'with an explicit deny in an identity-based policy';
    if (named.some(isDeny)) return 'with an explicit deny in a resource-based policy';
    if (named.some(isAllow)) return undefined;
    // The policy of a key decides whether policies of identities apply to it.
    const isClosed = need.action.startsWith('kms:') && attached.has(need.resource);
    if (isClosed && !ofResource.some((each) => isAllow(each) && names(each.Principal, 'AWS', ROOT)))
      return `because no resource-based policy allows the ${need.action} action`;
    if (own.some(isAllow)) return undefined;
    return `because no identity-based policy allows the ${need.action} action`;
  }

  function refuse({ action, resource }: Action, refusal: Readonly<Record<'by' | 'arn' | 'why', string>>) {
    refusals.push(`${refusal.by} may not ${action} on ${resource}`);
    return `User: ${refusal.arn} is not authorized to perform: ${action} on resource: ${resource} ${refusal.why}`;
  }

  function record(call: Call): void {
    calls.set(`${call.by} ${call.action} ${call.resource}`, call);
  }

  return {
    async refusal(request, by, hasTags) {
      const reason = refused(by === credentials.accessKeyId ? [] : needsOf(request), by);
      if (reason !== undefined || sourceOf(request) === undefined) return reason;
      return (await hasTags()) ? refused(needsOfCopiedTags(request), by) : undefined;
    },
    refusalOfMissing(request, by) {
      const need = needOfMissing(request);
      return need && refused([need], by);
    },
    refusalOf: (action, by) => refused([withContext(action)], by),
    refusalOfService(action, { service, sourceArn }) {
      const source = { 'aws:SourceArn': sourceArn, 'aws:SourceAccount': ACCOUNT };
      const need = withContext({ ...action, context: source });
      const about = (attached.get(action.resource) ?? [])
        .filter((statement) => isAbout(statement, need))
        .filter(({ Principal }) => names(Principal, 'Service', service));
      if (about.some(isAllow) && !about.some(isDeny)) return undefined;
      const why = `for ${sourceArn}, because no resource-based policy allows it`;
      return refuse(action, { by: service, arn: service, why });
    },
    calls: () => [...calls.values()],
    refusals: () => [...refusals],
    added,
  };
}

const isAllow = ({ Effect }: Statement) => Effect === 'Allow';
const isDeny = ({ Effect }: Statement) => Effect === 'Deny';

/** The principal of the account. A policy that names it delegates the decision to the policies of identities. */
const ROOT = `arn:aws:iam::${ACCOUNT}:root`;

/** Whether a statement's principals include this one by name, or are all. */
function names(principal: Statement['Principal'], kind: 'AWS' | 'Service', name: string): boolean {
  if (principal === undefined || typeof principal === 'string') return principal === '*';
  const all = [principal[kind] ?? [], kind === 'Service' && principal['AWS'] === '*' ? '*' : []].flat();
  return all.some((each) => each === '*' || each === name || (name === ROOT && each === ACCOUNT));
}
