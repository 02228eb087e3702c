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

export type PlatformCounter = ReturnType<typeof createPlatformCounter>;

export function createPlatformCounter() {
  const arrivals = createPeak(1000);
  const admissions = createPeak(1000);
  const statuses = new Map<string, Map<string, number>>();
  const faultRecords: FaultRecord[] = [];
  const executions: ExecutionRecord[] = [];
  const byFunction = new Map<string, number>();
  const formulaUpdates = new Map<string, number>();
  const sentimentCalls = new Map<string, number>();
  const churn = new Map<string, number>();
  return {
    /** Returns the number of the request; 1 is the first. */
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
      /** Counts by operation (`unknown` for none) and status; `reset` and `cut` where the connection was broken. */
      byOperation: Object.fromEntries(
        [...statuses].map(([name, counts]) => [name, Object.fromEntries(counts)]),
      ),
      /** Maximum requests that arrived within any second: all requests, and only the admitted requests. */
      mostInOneSecond: arrivals.peak(),
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

/** Counts events, and the maximum number within any window of `windowMs`, on a monotonic clock. */
function createPeak(windowMs: number) {
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
