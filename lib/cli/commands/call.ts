import { printJson, shownJson } from '../../base/index.ts';
import type { FunctionExecution } from '../../platform/index.ts';
import { defineCommand } from '../command.ts';
import { readObject } from '../options/options.ts';
import { exitCodes, shown, shownLines, type Terminal } from '../terminal/terminal.ts';

/** `call PACKAGE VERSION FUNCTION`: runs one code function, once, and prints its result. */
export const call = defineCommand({
  does: 'Run one code function. The call is sent only once, whatever happens.',
  arguments: [
    ['<package>', 'the id of the package, a UUID'],
    ['<version>', 'a released version of the package'],
    ['<function>', 'the name of the function'],
  ],
  options: [
    ['--input <json>', 'the input variables: a JSON object, @FILE for one in a file, - for standard input'],
    ['--logs', 'show what the function logged'],
    ['--json', 'print the whole execution as one JSON value'],
  ],
  examples: [
    `call 6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403 1.0.0 addNumbers --input '{"first": 40, "second": 2}'`,
    'call 6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403 1.0.0 addNumbers --input @input.json --logs',
  ],
  async run([packageId, packageVersion, functionName], { input, logs, json }, terminal) {
    const { runFunction } = await import('../../jobs/types/run-function/definition.ts');
    const { checkedMessage } = await import('../options/request-options.ts');
    const { openSession } = await import('../../session.ts');
    const inputVariables = input === undefined ? undefined : await readObject('--input', input, terminal);
    const given = {
      packageId,
      packageVersion,
      functionName,
      inputVariables,
      settings: { getLogs: logs === true },
    };
    const { packageVersion: version, ...message } = checkedMessage(
      runFunction,
      { version: 1, type: 'run-function', ...given },
      TYPED_AS,
    );
    const { platform } = openSession(terminal);
    const { inputVariables: sent, settings } = message;
    const request = { packageId, version, functionName, inputVariables: sent, settings };
    const { sendOnce } = await import('../errors/sent-once.ts');
    const execution = await sendOnce((options) => platform.functions.run(request, options), EFFECT, terminal);
    if (json) terminal.out(printJson(execution, 2));
    else show(execution, terminal);
    return execution.status.toUpperCase() === 'SUCCESS' ? exitCodes.done : exitCodes.failed;
  },
});

const EFFECT = {
  mayHave: 'the function may have run, or may still be running',
  lookAt: 'what the function changes, and at its executions on the platform',
};

/** The arguments and options that set the fields of the message. */
const TYPED_AS = {
  packageId: 'package',
  packageVersion: 'version',
  functionName: 'function',
  inputVariables: '--input',
};

function show(execution: FunctionExecution, { out, err }: Terminal): void {
  for (const entry of [...(execution.stdout?.log ?? []), ...(execution.stderr?.log ?? [])]) {
    err(shownLines(typeof entry === 'string' ? entry : printJson(entry)));
  }
  const { status, result, errorInformation } = execution;
  if (result !== undefined && result !== null) out(shownJson(printJson(result, 2)));
  if (status.toUpperCase() === 'SUCCESS') return;
  err(
    `platform-sync: the function ended with status ${shown(status)} (execution ${shown(execution.executionId)})`,
  );
  for (const message of errorInformation?.errorMessages ?? []) err(`  ${shown(message)}`);
}
