import { type AwsRequest, isMembers, type Members } from '../aws-request.ts';
import { succeeded, toJson } from '../reply.ts';
import type { Ask, Rule, World } from '../rule.ts';
import { queueNameOf } from './batches.ts';
import { attributesRequest } from './polls.ts';

/** Maximum age of counts. AWS's may be over a minute old, which is too long for people and tests to wait for. */
export const OLDEST_COUNTS_MS = 1_500;

/** Minimum interval between two records of counts. */
const RECORD_EVERY_MS = 25;

const COUNTS = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

/** Returns counts of a queue that are some time old. */
export const countsLag = {
  service: 'sqs',
  kind: 'weak',
  says: 'The approximate numbers of messages may not be consistent until at least a minute after the last change.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html',
  create: (world) => {
    const histories = new Map<string, History>();
    return async (request, next) => {
      const name = queueNameOf(request);
      if (name === '') return next(request);
      const history = histories.get(name) ?? createHistory(world);
      histories.set(name, history);
      if (request.operation !== 'GetQueueAttributes') {
        await history.record(request);
        return next(request);
      }
      const reply = await next(request);
      const { Attributes } = succeeded(reply) ?? {};
      if (!isMembers(Attributes) || !COUNTS.some((count) => count in Attributes)) return reply;
      const old = await history.past(request);
      const shown = COUNTS.filter((count) => count in Attributes).map((count) => [count, old[count]]);
      return toJson({ Attributes: { ...Attributes, ...Object.fromEntries(shown) } });
    };
  },
} as const satisfies Rule;

type History = ReturnType<typeof createHistory>;
type Recorded = { readonly atMs: number; readonly counts: Members };

/** The counts of a queue before each change. */
function createHistory({ random, now, ask }: World) {
  let recorded: readonly Recorded[] = [];
  const add = async (request: AwsRequest): Promise<Recorded> => {
    const last = { atMs: now(), counts: await countsOf(request, ask) };
    recorded = [...recorded.filter(({ atMs }) => atMs > last.atMs - OLDEST_COUNTS_MS), last];
    return last;
  };
  return {
    async record(request: AwsRequest): Promise<void> {
      if (now() - (recorded.at(-1)?.atMs ?? 0) >= RECORD_EVERY_MS) await add(request);
    },
    /** The counts at a random earlier time: those before the first change after it. */
    async past(request: AwsRequest): Promise<Members> {
      const last = await add(request);
      const sinceMs = last.atMs - OLDEST_COUNTS_MS * random.next();
      return (recorded.find(({ atMs }) => atMs >= sinceMs) ?? last).counts;
    },
  };
}

async function countsOf(request: AwsRequest, ask: Ask): Promise<Members> {
  const { Attributes } = succeeded(await ask(attributesRequest(request, COUNTS))) ?? {};
  return isMembers(Attributes) ? Attributes : {};
}
