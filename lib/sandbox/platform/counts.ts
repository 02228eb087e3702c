import { type faultKinds, faults } from './http/faults.ts';

type FaultRecord = {
  readonly request: number;
  readonly operation: string;
  readonly kind: (typeof faultKinds)[number];
  readonly when: 'before' | 'after';
};

type ExecutionRecord = {
  readonly executionId: string;
  readonly packageId: string;
  readonly version: string;
  readonly functionName: string;
  readonly inputVariables: unknown;
  readonly status: string;
};

/** Counts what the sandbox received, and what it did. */
export type PlatformCounter = ReturnType<typeof createPlatformCounter>;

/** Creates a counter; `read` returns the counts so far. Times are milliseconds of a monotonic clock. */
export function createPlatformCounter() {
  const arrivals = createPeakCounter(1000);
  const admissions = createPeakCounter(1000);
  const statuses = new Map<string, Map<string, number>>();
  const faultRecords: FaultRecord[] = [];
  const executions: ExecutionRecord[] = [];
  const byFunction = new Map<string, number>();
  const formulaUpdates = new Map<string, number>();
  const sentimentCalls = new Map<string, number>();
  const churn = new Map<string, number>();
  return {
    /** Counts a request, and returns its number; 1 is the first. */
    arrived: arrivals.add,
    admitted: admissions.add,
    responded(operation: string, status: number | 'reset' | 'cut') {
      const ofOperation = statuses.get(operation) ?? new Map<string, number>();
      statuses.set(operation, ofOperation);
      countUp(ofOperation, String(status));
    },
    faulted: (request: number, operation: string, kind: FaultRecord['kind']) =>
      void faultRecords.push({ request, operation, kind, when: faults[kind] }),
    executed(execution: ExecutionRecord) {
      executions.push(execution);
      countUp(byFunction, `${execution.packageId}/${execution.version}/${execution.functionName}`);
    },
    updatedFormula: (calculationId: string) => countUp(formulaUpdates, calculationId),
    analyzedSentiment: (text: string) => countUp(sentimentCalls, text),
    churned: (what: string) => countUp(churn, what),
    read: () => ({
      requests: arrivals.total(),
      /**
       * Responses by operation (`unknown` if the path belongs to no operation) and status, which is `reset` or `cut` if
       * a fault broke the connection.
       */
      byOperation: Object.fromEntries(
        [...statuses].map(([name, counts]) => [name, Object.fromEntries(counts)]),
      ),
      /** The maximum number of requests that arrived within any second. */
      mostInOneSecond: arrivals.peak(),
      /** The maximum number of requests within any second that the limiter admitted. */
      mostAdmittedInOneSecond: admissions.peak(),
      faults: [...faultRecords],
      executions: [...executions],
      executionsByFunction: Object.fromEntries(byFunction),
      formulaUpdates: Object.fromEntries(formulaUpdates),
      sentimentCalls: Object.fromEntries(sentimentCalls),
      churn: Object.fromEntries(churn),
    }),
  };
}

function countUp(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Creates a counter of events, and of the maximum number of events within any window of `windowMs`. */
function createPeakCounter(windowMs: number) {
  const recent: number[] = [];
  let total = 0;
  let peak = 0;
  return {
    add(atMs: number): number {
      while (recent[0] !== undefined && recent[0] <= atMs - windowMs) recent.shift();
      recent.push(atMs);
      peak = Math.max(peak, recent.length);
      total += 1;
      return total;
    },
    total: () => total,
    peak: () => peak,
  };
}
