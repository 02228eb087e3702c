import type { Outcome } from './interpreter.ts';
import {
  actualTypeOf,
  type DeclaredType,
  formatActualType,
  formatDeclaredType,
  matchesType,
} from './types.ts';

/** The statuses that this platform reports. It responds only when a function has finished, so never with RUNNING. */
type ExecutionStatus = 'SUCCESS' | 'FAILED' | 'RESULT_TYPE_FAILURE' | 'OUTPUT_UNDEFINED';

type ErrorInformation =
  | { readonly errorMessages: readonly string[] }
  | {
      readonly result: unknown;
      readonly expectedType: string;
      readonly actualType: string;
      readonly expectedIsList: boolean;
      readonly actualIsList: boolean;
      readonly expectedAllowNull: boolean;
      readonly errorMessages: readonly string[];
    };

/** The record of one run of a function, as the platform returns it (contract 2.4). Dates are ISO 8601, in UTC. */
export type FunctionExecution = {
  readonly executionId: string;
  readonly packageId: string;
  readonly version: string;
  readonly functionName: string;
  readonly status: ExecutionStatus;
  readonly settings: { readonly getLogs: boolean };
  readonly startedOn: string;
  readonly startedBy: string;
  readonly completedOn: string;
  readonly result: unknown;
  readonly stdout: { readonly log: readonly unknown[] };
  readonly stderr: { readonly log: readonly unknown[] };
  readonly errorInformation?: ErrorInformation;
};

export type Verdict = Pick<FunctionExecution, 'status' | 'result' | 'errorInformation'>;

export function judgeOutcome(outcome: Outcome, output: DeclaredType): Verdict {
  switch (outcome.kind) {
    case 'value':
      return judgeValue(outcome.value, output);
    case 'undefined':
      return { status: 'OUTPUT_UNDEFINED', result: null };
    case 'thrown':
      return failed(outcome.message);
    case 'unsettled':
      return failed('The function returned a promise that never settles');
    case 'time-limit':
      return failed(`The function exceeded the time limit of ${outcome.timeLimitMs} ms`);
    case 'memory-limit':
      return failed(`The function exceeded the memory limit of ${outcome.memoryLimitBytes} bytes`);
    case 'broken':
      return failed(`The interpreter failed: ${outcome.message}`);
    default:
      return outcome satisfies never;
  }
}

function failed(message: string): Verdict {
  return { status: 'FAILED', result: null, errorInformation: { errorMessages: [message] } };
}

function judgeValue(value: unknown, output: DeclaredType): Verdict {
  if (matchesType(value, output)) return { status: 'SUCCESS', result: value };
  const actual = actualTypeOf(value);
  const message = `Expected ${formatDeclaredType(output)}, got ${formatActualType(actual)}`;
  return {
    status: 'RESULT_TYPE_FAILURE',
    result: null,
    errorInformation: {
      result: value,
      expectedType: output.type,
      actualType: actual.type,
      expectedIsList: output.isList,
      actualIsList: actual.isList,
      expectedAllowNull: output.nullable,
      errorMessages: [message],
    },
  };
}
