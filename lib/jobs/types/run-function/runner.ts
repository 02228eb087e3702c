import { checkedBy } from '../../../base/index.ts';
import type { Call } from '../../../platform/index.ts';
import { runFunction } from '../../../platform/operations/run-function.ts';
import { executionSchema, type FunctionExecution } from '../../../platform/records.ts';
import type { Outcome } from '../../ledger/job-row.ts';
import type { RunJob } from '../../turn.ts';
import type { RunFunctionJob } from './message.ts';

/** Runs a code function, once. An execution that did not succeed is a failed job; its result has the whole execution. */
export function functionRunner(call: Call): RunJob<RunFunctionJob> {
  return async ({ packageId, packageVersion: version, functionName, inputVariables, settings }, turn) => {
    const input = { path: { packageId, version, functionName }, body: { inputVariables, settings } };
    const { signal, share, beforeSend, onLeave } = turn;
    const { text, json } = await call.raw(runFunction, input, {
      signal,
      share,
      beforeSend,
      onLeave,
      once: true,
      finishes: true,
    });
    const execution = checkedBy(executionSchema, json);
    const response = text.trim();
    if (execution.success) return { ...ended(execution.data), response };
    const message = 'the response does not match the contract, so the outcome of the function is unknown';
    return { status: 'unknown', error: { kind: 'shape', message }, response };
  };
}

function ended({ status, executionId }: FunctionExecution): Pick<Outcome, 'status' | 'error'> {
  switch (status.toUpperCase()) {
    case 'SUCCESS':
      return { status: 'done' };
    case 'RUNNING':
      return {
        status: 'unknown',
        error: {
          kind: 'running',
          message: `execution ${executionId} was still running when the platform responded`,
        },
      };
    default:
      return {
        status: 'failed',
        error: { kind: 'execution', message: `execution ${executionId} ended with ${status}` },
      };
  }
}
