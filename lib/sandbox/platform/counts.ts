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

export type PlatformCounter = {
  /** The number of the request, 1 is the first. */
  arrived(atMs: number): number;
  admitted(atMs: number): void;
  responded(operation: string, status: number | 'reset' | 'cut'): void;
  faulted(request: number, operation: string, kind: (typeof faultKinds)[number]): void;
  executed(execution: ExecutionRecord): void;
  updatedFormula(calculationId: string): void;
  analyzedSentiment(text: string): void;
  churned(what: string): void;
  read(): {
    readonly requests: number;
    /** Counts by operation (`unknown` for none) and status; `reset` and `cut` where the connection was broken. */
    readonly byOperation: Readonly<Record<string, Readonly<Record<string, number>>>>;
    /** Maximum requests that arrived within any second: all of them, and those that the limiter admitted. */
    readonly mostInOneSecond: number;
    readonly mostAdmittedInOneSecond: number;
    readonly faults: readonly FaultRecord[];
    readonly executions: readonly ExecutionRecord[];
    readonly executionsByFunction: Readonly<Record<string, number>>;
    readonly formulaUpdates: Readonly<Record<string, number>>;
    readonly sentimentCalls: Readonly<Record<string, number>>;
    readonly churn: Readonly<Record<string, number>>;
  };
};

export function createPlatformCounter(): PlatformCounter {
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
    arrived: arrivals.add,
    admitted: (atMs) => void admissions.add(atMs),
    responded(operation, status) {
      const ofOperation = statuses.get(operation) ?? new Map<string, number>();
      statuses.set(operation, ofOperation);
      countUp(ofOperation, String(status));
    },
    faulted: (request, operation, kind) =>
      void faultRecords.push({ request, operation, kind, when: faults[kind] }),
    executed(execution) {
      executions.push(execution);
      countUp(byFunction, `${execution.packageId}/${execution.version}/${execution.functionName}`);
    },
    updatedFormula: (calculationId) => countUp(formulaUpdates, calculationId),
    analyzedSentiment: (text) => countUp(sentimentCalls, text),
    churned: (what) => countUp(churn, what),
    read: () => ({
      requests: arrivals.total(),
      byOperation: Object.fromEntries(
        [...statuses].map(([name, counts]) => [name, Object.fromEntries(counts)]),
      ),
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

/** The most events within any window of `windowMs`, on a monotonic clock. */
function createPeak(windowMs: number): {
  add(atMs: number): number;
  total(): number;
  peak(): number;
} {
  const recent: number[] = [];
  let total = 0;
  let peak = 0;
  return {
    add(atMs) {
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
