import { parseArgs } from 'node:util';
import { readUsage, wrong } from '../proofs/usage.ts';
import { AwsCommandError, awsCommand, deployedStack } from './deployed.ts';
import { type Deployment, type Report, type SmokeInputs, smokeTest } from './smoke.ts';
import { localInputs, startLocal } from './start-local.ts';

const USAGE = `npm run smoke -- STACK [--construct ID] [--job JSON] [--event JSON] [--timeout SECONDS]
npm run smoke -- --local

Does each thing that a stack is for once, and reports what came of it. It scores one text, which costs a credit.
--construct ID   the construct, in a stack that has others too
--job JSON       {packageId, packageVersion, functionName, inputVariables} of a function that does no harm
--event JSON     {source, detailType, detail} of an event that a rule takes
--local          against a stack on this machine`;

const { values, stack, inputs } = readUsage(() => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      local: { type: 'boolean', default: false },
      construct: { type: 'string', default: '' },
      job: { type: 'string' },
      event: { type: 'string' },
      timeout: { type: 'string', default: '300' },
    },
  });
  const inputs = { job: jsonOption('job', values.job), event: jsonOption('event', values.event) };
  return { values, stack: positionals[0], inputs };
});

if ((stack === undefined) !== values.local || !(Number(values.timeout) > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
} else if (stack === undefined) {
  await using local = await startLocal();
  process.exitCode = await report(local, localInputs);
} else {
  process.exitCode = await reportDeployed(stack, inputs);
}

/** Parses a JSON option. Its text is not shown in errors, since a job's input may contain secrets. */
function jsonOption(name: string, text: string | undefined) {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    throw wrong(`--${name}`, 'JSON', `${text?.length} characters that are not JSON`);
  }
}

/** Reports on a deployed stack. A stack that cannot be examined is a failure too. */
async function reportDeployed(name: string, inputs: SmokeInputs): Promise<number> {
  try {
    const place = { stack: name, construct: values.construct };
    return await report(await deployedStack(place, { aws: awsCommand, environment: process.env }), inputs);
  } catch (error) {
    if (!(error instanceof AwsCommandError)) throw error;
    console.error(error.message);
    return 1;
  }
}

/** Runs the smoke test, and prints one line per step. Returns the exit code. */
async function report(deployment: Deployment, inputs: SmokeInputs): Promise<number> {
  const reports: Report[] = [];
  const timeoutMs = Number(values.timeout) * 1_000;
  for await (const each of smokeTest({ ...deployment, ...inputs, now: Date.now, timeoutMs })) {
    reports.push(each);
    console.log(`${each.outcome.padEnd(8)}${each.step.padEnd(10)}${each.says}`);
  }
  const count = (of: Report['outcome']) => reports.filter(({ outcome }) => outcome === of).length;
  console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
  return count('failed') > 0 ? 1 : 0;
}
