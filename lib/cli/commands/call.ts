import { shownJson } from '../../base/index.ts';
import { printJson } from '../../base/json/index.ts';
import { runFunction } from '../../jobs/types/index.ts';
import { operations } from '../../platform/http/index.ts';
import type { FunctionExecution } from '../../platform/index.ts';
import { endOfExecution, linesIn } from '../../platform/operations/index.ts';
import type { Run } from '../command.ts';
import { sendOnce } from '../errors/sent-once.ts';
import { UsageError } from '../errors/usage-error.ts';
import { jsonOf, readText } from '../options/files.ts';
import { openSessionOf } from '../options/from-settings.ts';
import { checkedMessage } from '../options/request-options.ts';
import { type ExitStatus, shown, shownLines, type Terminal } from '../terminal/terminal.ts';

/**
 * Reads the value of an option as a JSON object, given directly, as `@FILE`, or as `-` for standard input.
 * Throws `UsageError`.
 */
async function readObject(
  option: string,
  given: string,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<Readonly<Record<string, unknown>>> {
  const isFile = given === '-' || given.startsWith('@');
  const value = jsonOf(isFile ? await readText(given.replace(/^@/, ''), terminal) : given);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  // The content of a file is not shown, since it may be secret.
  const got = isFile
    ? `${value === undefined ? 'invalid JSON' : 'JSON that is not an object'} in ${given}`
    : JSON.stringify(given);
  throw new UsageError(
    `${option}: expected a JSON object such as '{"name": "value"}', @FILE to read it from a file, or - for standard input, got ${got}`,
  );
}

/** Runs one code function, once, and prints its result. */
export default (async ([packageId, packageVersion, functionName], { input, logs, json }, terminal) => {
  const inputVariables = input === undefined ? undefined : await readObject('--input', input, terminal);
  const settings = { getLogs: logs === true };
  const { packageVersion: version, ...message } = checkedMessage(
    runFunction,
    {
      version: 1,
      type: 'run-function',
      packageId,
      packageVersion,
      functionName,
      inputVariables,
      settings,
    },
    TYPED_AS,
  );
  const { functions } = operations(openSessionOf(terminal).call);
  const request = {
    packageId,
    version,
    functionName,
    inputVariables: message.inputVariables,
    settings: message.settings,
  };
  const execution = await sendOnce((options) => functions.run(request, options), EFFECT, terminal);
  if (json) terminal.out(printJson(execution, 2));
  else show(execution, terminal);
  return EXITS[endOfExecution(execution.status)];
}) satisfies Run<'call'>;

/** How the command ends. `unknown`: the function is still running, or has an unknown status. */
const EXITS = { done: 'done', failed: 'failed', unknown: 'incomplete' } as const satisfies Record<
  string,
  ExitStatus
>;

const EFFECT = {
  mayHave: 'the function may have run, or may still be running',
  lookAt: 'what the function changes, and at its list of executions on the platform',
};

/** The arguments and options that set the fields of the message, for errors. */
const TYPED_AS = {
  packageId: 'package',
  packageVersion: 'version',
  functionName: 'function',
  inputVariables: '--input',
};

function show(execution: FunctionExecution, { out, err }: Terminal): void {
  const { status, result, stdout, stderr, errorInformation } = execution;
  for (const line of [...linesIn(stdout, 'log'), ...linesIn(stderr, 'log')]) err(shownLines(line));
  if (result !== undefined && result !== null) out(shownJson(printJson(result, 2)));
  const ended = endOfExecution(status);
  if (ended === 'done') return;
  const named = `execution ${shown(String(execution.executionId ?? 'without an id'))}`;
  err(
    ended === 'failed'
      ? `platform-sync: the function ended with status ${shown(status)} (${named})`
      : `platform-sync: ${status.trim().toUpperCase() === 'RUNNING' ? 'the function is still running' : `the function has status ${shown(status)}`} (${named}), so its outcome is unknown. Before you run the command again, look at ${EFFECT.lookAt}`,
  );
  for (const message of linesIn(errorInformation, 'errorMessages')) err(`  ${shown(message)}`);
}
