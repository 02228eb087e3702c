import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openQueue } from '../../lib/jobs/queue/open-queue.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Deployment } from './smoke.ts';

/** Runs a command of AWS's own command line, and returns what it prints. */
export type Aws = (words: readonly string[]) => Promise<unknown>;

/** Thrown if AWS's command line is missing, or a command failed. */
export class AwsCommandError extends Error {
  override readonly name = 'AwsCommandError';
}

/** Runs a command. Throws `AwsCommandError` with the command's error output. */
export const awsCommand: Aws = async (words) => {
  const running = promisify(execFile)('aws', [...words, '--output', 'json'], { maxBuffer: 1e8 });
  const { stdout } = await running.catch(
    (error: Error & { readonly code?: unknown; readonly stderr?: string }) => {
      const says =
        error.code === 'ENOENT' ? 'expected the command aws on the PATH, got none' : error.stderr?.trim();
      throw new AwsCommandError(`aws ${words.slice(0, 2).join(' ')}: ${says || error.message}`, {
        cause: error,
      });
    },
  );
  return stdout.trim() === '' ? {} : JSON.parse(stdout);
};

type Output = { readonly OutputKey: string; readonly OutputValue: string };

/** The outputs of a construct among those of its stack: `id` is empty if the stack has only this construct. */
export function outputsOf(outputs: readonly Output[], id: string): (name: string) => string {
  return (name) => {
    const form = new RegExp(id === '' ? `^${name}$` : `^${RegExp.escape(id)}${name}[0-9A-F]{8}$`);
    const [found] = outputs.filter(({ OutputKey }) => form.test(OutputKey));
    if (found !== undefined) return found.OutputValue;
    throw new Error(
      `expected the output ${id}${name} of the stack, got ${outputs.map((each) => each.OutputKey)}`,
    );
  };
}

/** A stack in AWS, with the credentials and the region of the environment. */
export async function deployedStack(
  { stack, construct }: { readonly stack: string; readonly construct: string },
  { aws, environment }: { readonly aws: Aws; readonly environment: NodeJS.ProcessEnv },
): Promise<Deployment> {
  const { Stacks } = (await aws(['cloudformation', 'describe-stacks', '--stack-name', stack])) as {
    readonly Stacks: readonly [{ readonly Outputs: readonly Output[] }];
  };
  const output = outputsOf(Stacks[0].Outputs, construct);
  return {
    store: await openStore(output('Store'), { s3: environment }),
    send: async (job) => (await openQueue(output('QueueUrl'), environment)).send([JSON.stringify(job)]),
    async emit({ source, detailType, detail }) {
      const entry = { Source: source, DetailType: detailType, Detail: JSON.stringify(detail) };
      const put = await aws(['events', 'put-events', '--entries', JSON.stringify([entry])]);
      const [{ EventId, ErrorMessage }] = (put as { Entries: readonly [Record<string, string>] }).Entries;
      if (EventId === undefined) throw new Error(`expected the id of the event, got ${ErrorMessage}`);
      return EventId;
    },
    query: (sql) =>
      countByAthena(sql, { aws, database: output('GlueDatabase'), workGroup: output('WorkGroup') }),
    async redAlarms() {
      const named = ['--alarm-name-prefix', `${stack}-${construct}Alarms`, '--state-value', 'ALARM'];
      const { MetricAlarms } = (await aws(['cloudwatch', 'describe-alarms', ...named])) as {
        readonly MetricAlarms: readonly { readonly AlarmName: string }[];
      };
      return MetricAlarms.map(({ AlarmName }) => AlarmName);
    },
    wait: () => delay(2_000),
  };
}

type Athena = { readonly aws: Aws; readonly database: string; readonly workGroup: string };

async function countByAthena(sql: string, { aws, database, workGroup }: Athena): Promise<number> {
  const where = ['--query-execution-context', `Database=${database}`, '--work-group', workGroup];
  const begun = await aws(['athena', 'start-query-execution', '--query-string', sql, ...where]);
  const { QueryExecutionId: id } = begun as { readonly QueryExecutionId: string };
  for (;;) {
    const found = await aws(['athena', 'get-query-execution', '--query-execution-id', id]);
    const { Status } = (found as { QueryExecution: { Status: Record<string, string> } }).QueryExecution;
    if (Status['State'] === 'SUCCEEDED') break;
    if (Status['State'] === 'FAILED' || Status['State'] === 'CANCELLED')
      throw new Error(`expected rows of the query ${id}, got ${Status['StateChangeReason']}`);
    await delay(1_000);
  }
  const results = await aws(['athena', 'get-query-results', '--query-execution-id', id]);
  const { Rows } = (
    results as { ResultSet: { Rows: readonly { Data: readonly Record<string, string>[] }[] } }
  ).ResultSet;
  // The first row contains the column names.
  return Number(Rows[1]?.Data[0]?.['VarCharValue']);
}
