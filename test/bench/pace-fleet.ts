import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { PaceCounts } from '../../lib/pace/pace.ts';
import type { WorkerFaults } from './pace-scenarios.ts';

export type WorkerPlan = {
  /** `idle`: a call now and then. */
  readonly kind: 'busy' | 'idle';
  readonly rate: number;
  /** How many calls run at once, each followed by the next. */
  readonly concurrency: number;
  /** As the local AWS printed them, and where the platform is. */
  readonly settings: Readonly<Record<string, string>>;
  readonly faults?: WorkerFaults;
};

export type WorkerStart = { readonly startAtMs: number; readonly endAtMs: number };

/** What a worker has done so far, and its requests to DynamoDB. */
export type WorkerReport = PaceCounts & { readonly writes: number; readonly reads: number };

export type Child = {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  last: WorkerReport | undefined;
};

/** Starts a worker process, which waits for its `WorkerStart`. */
export async function startWorker(plan: WorkerPlan): Promise<Child> {
  const process = fork('test/bench/pace-worker-process.ts', [JSON.stringify(plan)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const child: Child = { process, ended: once(process, 'exit'), last: undefined };
  await once(process, 'message');
  process.on('message', (message) => {
    child.last = message as WorkerReport;
  });
  return child;
}
