/** The inputs of `capacityOf`. */
export type CapacityNeeds = {
  /** The rate in requests a second at which the fleet may send. */
  readonly rate: number;
  /** The number of requests in flight in one process. */
  readonly concurrency: number;
  /** How many milliseconds a call takes, on average. */
  readonly latencyMs: number;
  /** How many milliseconds a code function takes, on average. */
  readonly codeFunctionMs: number;
  /** The maximum number of processes at once. */
  readonly workers: number;
  /** How many snapshots may run at once. */
  readonly snapshots: number;
  /** Whether texts have a separate function, with as many processes as the jobs of all types. */
  readonly textsQueue?: boolean;
};

/** The maximum number of processes at once, for each function that sends requests. */
export type Capacity = {
  readonly jobs: number;
  readonly functions: number;
  readonly snapshots: number;
};

/** The minimum of an SQS event source. */
const MIN = 2;

const MAX = 1_000;

/**
 * Computes how many processes each function may have. By Little's law, rate × latency requests are in flight,
 * `concurrency` of them in each process; a code function has a process to itself. Code functions get the
 * workers that the others do not need.
 */
export function capacityOf(needs: CapacityNeeds): Capacity {
  const { rate, concurrency, latencyMs, codeFunctionMs, workers, snapshots, textsQueue = false } = needs;
  const queues = textsQueue ? 2 : 1;
  const jobs = bounded((rate * latencyMs) / 1_000 / concurrency, (workers - MIN - snapshots) / queues);
  const functions = bounded((rate * codeFunctionMs) / 1_000, workers - queues * jobs - snapshots);
  return { jobs, functions, snapshots };
}

const bounded = (wanted: number, most: number) =>
  Math.max(MIN, Math.min(Math.ceil(wanted), Math.floor(most), MAX));

/** The minimum number of workers with which every function gets its processes. */
export const fewestWorkers = ({ snapshots, textsQueue }: Pick<CapacityNeeds, 'snapshots' | 'textsQueue'>) =>
  (textsQueue ? 3 : 2) * MIN + snapshots;
