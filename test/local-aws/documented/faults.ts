import type { ServiceName } from './aws-request.ts';
import { createNowAndThen } from './now-and-then.ts';
import { type Refusal, refuse } from './reply.ts';
import type { Rule } from './rule.ts';

/** How many requests there are to one that is hit. */
const REQUESTS_PER_FAULT = 250;

type Fault = Pick<Rule, 'says' | 'page'> & { readonly service: ServiceName };

/** Now and then a request is refused, with each of the refusals in turn, and not executed. */
export const refuses = ({ refusals, ...fault }: Fault & { readonly refusals: readonly Refusal[] }): Rule => ({
  ...fault,
  kind: 'weak',
  create({ random }) {
    const isHit = createNowAndThen(random, REQUESTS_PER_FAULT);
    return async (request, next) =>
      isHit() ? refuse(request.service, random.pick(refusals)) : next(request);
  },
});

/** Now and then the connection breaks after a request was executed. `except`: operations that it never happens to. */
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
