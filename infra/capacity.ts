/** The inputs of `capacityOf`. */
export type CapacityNeeds = {
  /** The rate in requests a second at which the fleet may send. */
  readonly rate: number;
  /** The maximum number of requests in flight in one process. */
  readonly concurrency: number;
  /** The average duration of a call, in milliseconds. */
  readonly latencyMs: number;
  /** The average duration of a code function, in milliseconds. */
  readonly codeFunctionMs: number;
  /** The maximum number of concurrent processes. */
  readonly workers: number;
  /** The maximum number of concurrent snapshots. */
  readonly snapshots: number;
  /** Whether scoring has its own queue and function, with as many processes as the general jobs function. */
  readonly textsQueue?: boolean;
};

/** The maximum number of concurrent processes of each function that sends requests. */
export type Capacity = {
  readonly jobs: number;
  readonly functions: number;
  readonly snapshots: number;
};

/** The minimum and maximum concurrency of an SQS event source. */
const MIN_CONCURRENCY = 2;
const MAX_CONCURRENCY = 1_000;

/**
 * Computes how many processes each function may have. By Little's law, rate × latency requests are in flight, and each
 * process has `concurrency` of them; a code function has a process to itself. Code functions get all workers that jobs
 * and snapshots do not need.
 */
export function capacityOf(needs: CapacityNeeds): Capacity {
  const { rate, concurrency, latencyMs, codeFunctionMs, workers, snapshots, textsQueue = false } = needs;
  const queues = textsQueue ? 2 : 1;
  const jobs = bounded(
    (rate * latencyMs) / 1_000 / concurrency,
    (workers - MIN_CONCURRENCY - snapshots) / queues,
  );
  const functions = bounded((rate * codeFunctionMs) / 1_000, workers - queues * jobs - snapshots);
  return { jobs, functions, snapshots };
}

const bounded = (needed: number, available: number) =>
  Math.max(MIN_CONCURRENCY, Math.min(Math.ceil(needed), Math.floor(available), MAX_CONCURRENCY));

/** The minimum number of workers that gives every function its processes. */
export const minWorkers = ({ snapshots, textsQueue }: Pick<CapacityNeeds, 'snapshots' | 'textsQueue'>) =>
  (textsQueue ? 3 : 2) * MIN_CONCURRENCY + snapshots;
