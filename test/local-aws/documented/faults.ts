import type { ServiceName } from './aws-request.ts';
import { createNowAndThen } from './now-and-then.ts';
import { type Refusal, refuse } from './reply.ts';
import type { Rule } from './rule.ts';

/** One in this number of requests fails. */
const REQUESTS_PER_FAULT = 250;

type Fault = Pick<Rule, 'says' | 'page'> & { readonly service: ServiceName };

/** Occasionally rejects a request without executing it, with each of the errors in turn. */
export const refuses = ({ refusals, ...fault }: Fault & { readonly refusals: readonly Refusal[] }): Rule => ({
  ...fault,
  kind: 'weak',
  create({ random }) {
    const isHit = createNowAndThen(random, REQUESTS_PER_FAULT);
    return async (request, next) =>
      isHit() ? refuse(request.service, random.pick(refusals)) : next(request);
  },
});

/** Occasionally breaks the connection after a request was executed. `except`: operations that are not affected. */
export const losesResponses = ({
  except,
  ...fault
}: Fault & { readonly except?: ReadonlySet<string> }): Rule => ({
  ...fault,
  kind: 'weak',
  create({ random }) {
    const isHit = createNowAndThen(random, REQUESTS_PER_FAULT);
    return async (request, next) => {
      if (except?.has(request.operation) || !isHit()) return next(request);
      return { ...(await next(request)), isLost: true };
    };
  },
});
