import { isUtf8 } from 'node:buffer';
import * as z from 'zod/mini';
import { anyRecord, messageOf, shortened, uuid, yesOrNo } from '../../../base/index.ts';
import { JsonLimitError, parseJson } from '../../../base/json/index.ts';
import { readAsJson } from '../../../platform/http/index.ts';
import type { Call, FunctionExecution, OnOdd, ReadAnswer } from '../../../platform/index.ts';
import {
  endOfExecution,
  runFunction as endpoint,
  linesIn,
  oddIn,
  pathSegment,
} from '../../../platform/operations/index.ts';
import { type AllowLists, notAllowed } from '../../allow-lists.ts';
import { EXECUTED, type Outcome, wasExecuted } from '../../ledger/job-row.ts';
import { common, type JobFrom } from '../../message/check-message.ts';
import type { RunJob } from '../../send-context.ts';
import type { JobTypeDefinition } from '../job-type-definition.ts';
import { fromEvent } from './from-event.ts';

/** A path segment without a slash, since SYNC_ALLOW separates segments by slashes. */
const slashlessSegment = pathSegment.check(
  z.refine((value) => !value.includes('/'), { error: 'a name without slashes' }),
);

const schema = z.strictObject({
  ...common,
  type: z.literal('run-function', { error: 'run-function' }),
  packageId: uuid,
  packageVersion: slashlessSegment,
  functionName: slashlessSegment,
  inputVariables: z.optional(anyRecord('an object of input variables')),
  settings: z.optional(z.looseObject({ getLogs: z.optional(yesOrNo) }, { error: 'an object of settings' })),
  /**
   * What happens if it is unknown whether the function ran. By default the job becomes unknown and is not sent again.
   */
  onUnknown: z._default(z.enum(['fail', 'retry'], { error: 'fail or retry' }), 'fail'),
  /** Whether to import the formulas that the function returns: a list of {id, expression, name?, datasetId?}. */
  importFormulas: z.optional(z.literal(true, { error: 'true' })),
});

type RunFunctionJob = JobFrom<z.infer<typeof schema>>;

/** Runs a code function. Each message without an id is a separate job. Messages of event rules get an id from the event. */
export const runFunction: JobTypeDefinition<z.infer<typeof schema>, z.input<typeof schema>> = {
  schema,
  defaultId: 'message-id',
  expand: fromEvent,
  mayRepeat: ({ onUnknown }) => onUnknown === 'retry',
  timeoutMs: endpoint.timeoutMs,
  allowFault: functionFault,
  maxCalls: () => 1,
  openRunner: async ({ platform }) => functionRunner(platform.call),
  /** Imports the formulas that the function returned, if the message asks for that. */
  async afterEnd({ importFormulas: isAsked }, ended, { store }) {
    if (!isAsked || (ended.outcome.status !== 'done' && !wasExecuted(ended.outcome.error))) return;
    await (await import('./import-formulas.ts')).importFormulas(store, ended);
  },
  sample: ({ packageId }) => ({
    version: 1,
    type: 'run-function',
    id: 'tour-days',
    packageId,
    packageVersion: '1.0.0',
    functionName: 'businessDays',
    inputVariables: { start: '2026-11-20', end: '2026-12-01', holidays: ['2026-11-26'] },
  }),
};

function functionFault(
  { packageId: id, packageVersion, functionName }: RunFunctionJob,
  { packages, functions }: AllowLists,
): string | undefined {
  const packageId = id.toLowerCase();
  if (packages !== undefined && !packages.some((allowed) => allowed.toLowerCase() === packageId))
    return notAllowed('packageId', packages, id);
  const name = `${packageId}/${packageVersion}/${functionName}`;
  if (functions !== undefined && !functions.some((entry) => matches(entry, name, functionName)))
    return notAllowed('functionName', functions, name);
  return undefined;
}

const LENGTH_OF_UUID = 36;

/** Whether an entry of SYNC_ALLOW refers to this function. Case matters, except in the package's UUID. */
const matches = (entry: string, full: string, functionName: string) =>
  entry.includes('/')
    ? entry.slice(0, LENGTH_OF_UUID).toLowerCase() + entry.slice(LENGTH_OF_UUID) === full
    : entry === functionName;

/**
 * Creates the runner, which runs a code function once. If the execution did not succeed, the job fails, and its result
 * has the whole execution.
 */
function functionRunner(call: Call): RunJob<RunFunctionJob> {
  return async (job, context) => {
    const { packageId, packageVersion: version, functionName, inputVariables, settings } = job;
    const input = { path: { packageId, version, functionName }, body: { inputVariables, settings } };
    const { signal, priority, beforeSend, onSend, hold } = context;
    const options = { signal, priority, beforeSend, onSend, hold, once: true, finishes: true };
    const read: ReadAnswer<Read> = async (body, onOdd) => {
      const odd: string[] = [];
      const execution = await readExecution(body, (members) => odd.push(...members));
      onOdd?.([...odd, ...oddIn(endpoint.records, execution.json)]);
      return execution;
    };
    const { response, json } = await call.read(endpoint, input, read, options);
    const execution: Partial<FunctionExecution> = Object(json ?? {});
    const end = outcomeOf(execution);
    if (!job.importFormulas || end.status !== 'done') return { ...end, response };
    const { faultOfFormulas } = await import('./import-formulas.ts');
    const fault = await faultOfFormulas(response);
    return {
      ...(fault === undefined
        ? end
        : executed(execution, `returned formulas that cannot all be imported: ${fault}`)),
      response,
    };
  };
}

/**
 * A larger response stays a buffer of bytes, which are validated as JSON: as a string and values it would take eight
 * times as much memory.
 */
const MAX_PARSED_BYTES = 1_000_000;

/** The members of an execution that decide the outcome or explain it. */
const DECIDING = ['executionId', 'status', 'errorInformation', 'stderr'];

type Read = { readonly response: string | Buffer; readonly json: unknown };

async function readExecution(body: Buffer, onOdd: OnOdd): Promise<Read> {
  try {
    if (body.byteLength > MAX_PARSED_BYTES && body[0] === OPEN_OBJECT)
      return { response: body, json: await decidingIn(body) };
    // Parsing frees the memory of its argument, so it gets a copy.
    const { text, json } = readAsJson(Buffer.from(body), onOdd);
    return { response: text.trim(), json };
  } catch (error) {
    if (!(error instanceof JsonLimitError)) throw error;
    // The response is nested too deeply for readers of the result, so the result has it as a string.
    return { response: JSON.stringify(body.toString()), json: await decidingIn(body, { isDeep: true }) };
  }
}

/** The members of an execution in `DECIDING`, without large values. */
async function decidingIn(body: Buffer, { isDeep = false } = {}): Promise<object> {
  if (!isUtf8(body)) throw new SyntaxError('the body is not UTF-8');
  const { memberJson } = await import('../../../snapshot/history/index.ts');
  const members = memberJson(body, DECIDING, { maxBytes: MAX_PARSED_BYTES, isDeep });
  return Object.fromEntries(Array.from(members, ([name, text]) => [name, valueIn(text)]));
}

/** Parses JSON; undefined for a value that exceeds the limits. */
function valueIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonLimitError) return undefined;
    throw error;
  }
}

const OPEN_OBJECT = 0x7b;

const aboutOf = ({ executionId }: Partial<FunctionExecution>): string =>
  typeof executionId === 'string' ? `execution ${shortened(executionId, 100)}` : 'the execution';

const executed = (execution: Partial<FunctionExecution>, what: string) => ({
  status: 'failed' as const,
  error: { kind: EXECUTED, message: messageOf(`${aboutOf(execution)} ${what}`) },
});

function outcomeOf(execution: Partial<FunctionExecution>): Pick<Outcome, 'status' | 'error'> {
  const status = endOfExecution(execution.status);
  const word = typeof execution.status === 'string' ? execution.status.trim() : '';
  const about = aboutOf(execution);
  const error = (kind: string, what: string) => ({ status, error: { kind, message: `${about} ${what}` } });
  if (status === 'done') return { status };
  if (status === 'failed') return error(EXECUTED, `ended with ${word}${reasonOf(execution)}`);
  if (word.toUpperCase() === 'RUNNING')
    return error('running', 'was still running when the platform responded');
  const statusWords = word === '' ? 'has no status' : `has the status ${shortened(word, 100)}`;
  return error(
    word === '' ? 'shape' : 'undetermined',
    `${statusWords}, so it is unknown how it ended${reasonOf(execution)}`,
  );
}

/** Maximum characters of a reason in the row of a job; the result has the whole reason. */
const MAX_REASON_LENGTH = 1_000;

/** What went wrong according to the platform, and the end of what the function wrote to stderr. */
function reasonOf({ errorInformation, stderr }: Partial<FunctionExecution>): string {
  const lines = [...linesIn(errorInformation, 'errorMessages'), ...linesIn(stderr, 'log').slice(-2)];
  const words = [...new Set(lines)].join('; ');
  return words === '' ? '' : `: ${shortened(words, MAX_REASON_LENGTH)}`;
}
