import type { Random } from '../../../lib/sandbox/platform/records/random.ts';
import type { AwsRequest, ServiceName } from './aws-request.ts';
import type { Reply } from './reply.ts';

/** Passes a request on, and returns what came back. */
export type Ask = (request: AwsRequest) => Promise<Reply>;

/** The context of a rule, besides the requests. */
export type World = {
  /** The rule's own stream of random draws, so that turning off a rule does not affect the others. */
  readonly random: Random;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Asks the stand-in itself, past all other rules. */
  readonly ask: Ask;
};

/** Sees every request to its service: it may refuse, change or repeat it, and change the reply. */
type Middleware = (request: AwsRequest, next: Ask) => Promise<Reply>;

/** One documented behaviour of AWS that its stand-in lacks. */
export type Rule = {
  readonly service: ServiceName;
  /** `strict`: it refuses or does what AWS does. `weak`: now and then it fails a client in a way that AWS announces. */
  readonly kind: 'strict' | 'weak';
  /** What AWS does, in one sentence. */
  readonly says: string;
  /** The page of AWS's documentation. */
  readonly page: string;
  /** Called once for each local AWS: what a rule remembers, it remembers there. */
  readonly create: (world: World) => Middleware;
};
