import { printJson } from '../../../base/index.ts';
import { runFunction } from '../../../platform/operations/run-function.ts';
import { assumptions } from '../assumptions.ts';
import { ok, operation, refused } from './operation.ts';

/** Contract 4.5. A function that failed still gets 200: its `status` says so. */
export const runFunctionOperation = operation(
  runFunction,
  async ({ path, body }, { counter, runCodeFunction }) => {
    const inputVariables = body.inputVariables ?? {};
    const getLogs = body.settings?.getLogs;
    const run = await runCodeFunction({
      ...path,
      inputVariables,
      settings: { getLogs },
      startedBy: assumptions.tokenOwner,
    });
    switch (run.kind) {
      case 'not-found':
        return refused(404, run.message);
      case 'bad-input':
        return refused(400, run.message);
      case 'executed': {
        const { executionId, packageId, version, functionName, status } = run.execution;
        counter.executed({ executionId, packageId, version, functionName, inputVariables, status });
        return ok(printJson({ ...run.execution, errorInformation: run.execution.errorInformation ?? null }));
      }
      default:
        return run satisfies never;
    }
  },
  { errors: { usual: 'MessageError', forbidden: 'MessageError' } },
);
