import { randomFor } from '../../../lib/sandbox/platform/records/random.ts';
import type { ServiceName } from './aws-request.ts';
import type { Ask, Rule } from './rule.ts';
import { type RuleName, rules } from './rules.ts';

/** The names of rules that are off, each with the reason. */
export type OffRules = { readonly [name in RuleName]?: string };

export type LayerOptions = {
  /** The stand-in for each service. */
  readonly standIns: Readonly<Record<ServiceName, Ask>>;
  /** The seed of everything that happens only occasionally. The order of requests matters too. */
  readonly seed: number;
  readonly off?: OffRules | undefined;
  /** The clock of the rules, in epoch milliseconds. Default: the machine's. */
  readonly now?: () => number;
};

/** Adds AWS's documented behaviour to stand-ins that lack it. */
export function createLayer({ standIns, seed, off = {}, now = Date.now }: LayerOptions): Ask {
  const allRules: readonly (readonly [string, Rule])[] = Object.entries(rules);
  const chainOf = (service: ServiceName): Ask => {
    const ask = standIns[service];
    return allRules
      .filter(([name, rule]) => rule.service === service && !(name in off))
      .reduceRight<Ask>((next, [name, rule]) => {
        const handle = rule.create({ random: randomFor(seed, name), now, ask });
        return (request) => handle(request, next);
      }, ask);
  };
  const chains = { s3: chainOf('s3'), sqs: chainOf('sqs'), dynamodb: chainOf('dynamodb') };
  return (request) => chains[request.service](request);
}
