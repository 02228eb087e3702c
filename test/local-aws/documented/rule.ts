import type { Random } from '../../../lib/sandbox/platform/records/random.ts';
import type { AwsRequest, ServiceName } from './aws-request.ts';
import type { Reply } from './reply.ts';

/** Sends a request to the next rule or the stand-in, and returns its reply. */
export type Ask = (request: AwsRequest) => Promise<Reply>;

/** The context of a rule, apart from the requests. */
export type World = {
  /** The rule's own stream of random draws, so that turning off a rule does not affect the others. */
  readonly random: Random;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Sends a request directly to the stand-in, without any rules. */
  readonly ask: Ask;
};

/** Handles every request to its service: it may reject, change or repeat the request, and change the reply. */
type Middleware = (request: AwsRequest, next: Ask) => Promise<Reply>;

/** One documented behaviour of AWS that its stand-in lacks. */
export type Rule = {
  readonly service: ServiceName;
  /** `strict`: the rule accepts and rejects what AWS does. `weak`: it occasionally fails a client, as AWS documents. */
  readonly kind: 'strict' | 'weak';
  /** What AWS does, in one sentence. */
  readonly says: string;
  /** The page of AWS's documentation. */
  readonly page: string;
  /** Called once for each local AWS. The state of a rule belongs to one call. */
  readonly create: (world: World) => Middleware;
};
