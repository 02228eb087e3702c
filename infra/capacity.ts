/** Numbers by which processes are shared out. */
export type CapacityNeeds = {
  /** Requests a second that the fleet may send. */
  readonly rate: number;
  /** Requests in flight in one process. */
  readonly concurrency: number;
  /** Milliseconds that a call takes, on average. */
  readonly latencyMs: number;
  /** Milliseconds that a code function takes, on average. */
  readonly codeFunctionMs: number;
  /** The most processes at once. */
  readonly workers: number;
  /** Snapshots that may run at once. */
  readonly snapshots: number;
};

/** Processes at once, at most, of each function that sends. */
export type Capacity = {
  readonly jobs: number;
  readonly functions: number;
  readonly snapshots: number;
};

/** SQS starts with no fewer. */
const FEWEST = 2;

const MOST = 1_000;

/**
 * By Little's law rate × latency requests are in flight, `concurrency` in each process; a code function has a process
 * of its own. Code functions take what the others leave of the workers.
 */
export function capacityOf(needs: CapacityNeeds): Capacity {
  const { rate, concurrency, latencyMs, codeFunctionMs, workers, snapshots } = needs;
  const jobs = bounded((rate * latencyMs) / 1_000 / concurrency, workers - FEWEST - snapshots);
  const functions = bounded((rate * codeFunctionMs) / 1_000, workers - jobs - snapshots);
  return { jobs, functions, snapshots };
}

const bounded = (wanted: number, most: number) => Math.max(FEWEST, Math.min(Math.ceil(wanted), most, MOST));

/** The fewest workers that every function can be given its processes of. */
export const fewestWorkers = ({ snapshots }: Pick<CapacityNeeds, 'snapshots'>) => 2 * FEWEST + snapshots;
