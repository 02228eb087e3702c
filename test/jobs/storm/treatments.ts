import type { Random } from '../../../lib/sandbox/platform/records/random.ts';
import { refuse } from '../../local-aws/documented/reply.ts';
import type { ProxiedReply, ProxiedRequest, Treatment } from './faulty-proxy.ts';
import type { FaultKind, ServiceName } from './plan.ts';

/** A fault that has begun; `over` is aborted at its end. */
export type ActiveFault = {
  readonly service: ServiceName;
  readonly fault: FaultKind;
  readonly share: number;
  readonly over: AbortSignal;
};

const PASS: Treatment = { kind: 'pass' };

/** Maximum delay of a response in milliseconds. */
const LATEST_MS = 2_000;

/** What happens to a request while these faults last. */
export function treatmentOf(
  request: ProxiedRequest,
  active: readonly ActiveFault[],
  random: Random,
): Treatment {
  for (const { service, fault, share, over } of active) {
    if (fault === 'refused' || !random.chance(share)) continue;
    switch (fault) {
      case 'lost':
        // A lost receive shows no more than a kill does: its messages stay hidden until their visibility timeout ends.
        return isReceive(request) ? PASS : { kind: 'lost' };
      case 'late':
        return { kind: 'late', byMs: random.below(LATEST_MS) };
      case 'silent':
        return { kind: 'silent', until: over };
      case 'throttled':
        return { kind: 'instead', reply: throttled(service) };
      case 'unauthorized':
        return { kind: 'instead', reply: platformReply(401) };
      case 'too-many':
        return { kind: 'instead', reply: platformReply(429, { 'retry-after': '1' }) };
      case 'error':
        return { kind: 'instead', reply: platformReply(500) };
      default:
        return fault satisfies never;
    }
  }
  return PASS;
}

const isReceive = ({ headers }: ProxiedRequest) =>
  String(headers['x-amz-target']).endsWith('.ReceiveMessage');

function throttled(service: ServiceName): ProxiedReply {
  switch (service) {
    case 's3':
      return refuse('s3', { status: 503, code: 'SlowDown', message: 'Please reduce your request rate.' });
    case 'sqs':
      return refuse('sqs', { status: 400, code: 'RequestThrottled', message: 'The request was denied.' });
    default:
      return refuse('dynamodb', { status: 400, code: 'ThrottlingException', message: 'Rate exceeded' });
  }
}

function platformReply(status: number, more: Readonly<Record<string, string>> = {}): ProxiedReply {
  const body = Buffer.from(JSON.stringify({ status, message: 'a storm' }));
  return { status, headers: { 'content-type': 'application/json', ...more }, body };
}
