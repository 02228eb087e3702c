import { parseArgs } from 'node:util';
import { awsCommand, deployedStack } from './deployed.ts';
import type { Deployment, SmokeInputs } from './deployment.ts';
import { type Report, smokeTest } from './smoke.ts';
import { localInputs, startLocal } from './start-local.ts';

const USAGE = `npm run smoke -- STACK [--construct ID] [--job JSON] [--event JSON] [--timeout SECONDS]
npm run smoke -- --local

Does each thing that a stack is for once, and reports what came of it. It scores one text, which costs a credit.
--construct ID   the construct, in a stack that has others too
--job JSON       {packageId, packageVersion, functionName, inputVariables} of a function that does no harm
--event JSON     {source, detailType, detail} of an event that a rule takes
--local          against a stack on this machine`;

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
const [stack] = positionals;

if ((stack === undefined) !== values.local || !(Number(values.timeout) > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
} else if (stack === undefined) {
  await using local = await startLocal();
  process.exitCode = await report(local, localInputs);
} else {
  const given = { stack, construct: values.construct };
  const deployment = await deployedStack(given, { aws: awsCommand, environment: process.env });
  process.exitCode = await report(deployment, { job: parsed(values.job), event: parsed(values.event) });
}

function parsed(text: string | undefined) {
  return text === undefined ? undefined : JSON.parse(text);
}

/** Prints a line a step. Returns the exit code. */
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
