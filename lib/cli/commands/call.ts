import { printJson } from '../../json/json.ts';
import { shownJson } from '../../json/shown-json.ts';
import type { FunctionExecution } from '../../platform/records.ts';
import type { AddCommand } from '../command.ts';
import { readObject } from '../options.ts';
import { exitCodes, shown, shownLines, type Terminal } from '../terminal.ts';

type CallFlags = {
  readonly input?: string;
  readonly logs?: true;
  readonly json?: true;
};

/** `call PACKAGE VERSION FUNCTION`: runs one code function, once, and prints its result. */
export const addCall: AddCommand = (program, terminal, finish) => {
  program
    .command('call')
    .description('Run one code function. The call is sent only once, whatever happens.')
    .argument('<package>', 'the id of the package, a UUID')
    .argument('<version>', 'a released version of the package')
    .argument('<function>', 'the name of the function')
    .option(
      '--input <json>',
      'the input variables: a JSON object, @FILE for one in a file, - for standard input',
    )
    .option('--logs', 'show what the function logged')
    .option('--json', 'print the whole execution as one JSON value')
    .action(async (packageId: string, packageVersion: string, functionName: string, flags: CallFlags) => {
      // Loaded only when they are needed, so that the other commands start without them.
      const { runFunctionChecks } = await import('../../jobs/types/run-function/message.ts');
      const { checkedMessage } = await import('../checked-message.ts');
      const { openSession } = await import('../../session.ts');
      const inputVariables =
        flags.input === undefined ? undefined : await readObject('--input', flags.input, terminal);
      const { packageVersion: version, ...message } = checkedMessage(
        runFunctionChecks,
        {
          version: 1,
          type: 'run-function',
          packageId,
          packageVersion,
          functionName,
          inputVariables,
          settings: { getLogs: flags.logs === true },
        },
        TYPED_AS,
      );
      const { platform } = openSession(terminal);
      const { inputVariables: sent, settings } = message;
      const call = { packageId, version, functionName, inputVariables: sent, settings };
      const { sendOnce } = await import('../sent-once.ts');
      const execution = await sendOnce((options) => platform.functions.run(call, options), EFFECT, terminal);
      if (flags.json) terminal.out(printJson(execution, 2));
      else show(execution, terminal);
      finish(execution.status.toUpperCase() === 'SUCCESS' ? exitCodes.done : exitCodes.failed);
    });
};

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
