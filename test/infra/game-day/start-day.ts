import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSqsClient, createSqsQueue } from '../../../lib/jobs/queue/sqs-queue.ts';
import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../../lib/store/open.ts';
import { runLine } from '../../docs/run-line.ts';
import { ACCOUNT, REGION } from '../../local-aws/identity.ts';
import { startStack } from '../../local-aws/stack/start-stack.ts';
import { resourcesOf, type StackToRun } from '../../local-aws/stack/template.ts';
import { redAt } from './red-at.ts';
import { startRefusing } from './start-refusing.ts';

export const BASE_URL = 'https://deployed.invalid';

const small = { calculations: 40, datasets: 4, cards: 0, fileSets: 0, dataFiles: 5 };

export type Day = Awaited<ReturnType<typeof startDay>>;

/** The managed policies of a person on call, as in the runbook. */
const POLICIES = ['PoliciesReader', 'PoliciesSubmitter', 'PoliciesOperator', 'Token'];

/** Adds the permission for the token's parameter, which an administrator grants separately. */
function withToken({ template, ...others }: StackToRun): StackToRun {
  const Resource = `arn:aws:ssm:${REGION}:${ACCOUNT}:parameter/deployed/token`;
  const Action = ['ssm:GetParameter', 'ssm:PutParameter'];
  const PolicyDocument = { Statement: [{ Effect: 'Allow', Action, Resource }] };
  const Token = { Type: 'AWS::IAM::ManagedPolicy', Properties: { PolicyDocument } };
  return { ...others, template: { ...template, Resources: { ...template.Resources, Token } } };
}

/**
 * Starts an instance on the local AWS, its platform, and a person on call, for a day on which something breaks. The
 * instance has the name `deployed`, and its token is in the parameter `/deployed/token`.
 */
export async function startDay(deployed: StackToRun) {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'game-day-'));
  started.defer(() => rm(folder, { recursive: true }));
  let platform = await startPlatform(small);
  started.defer(() => platform.close());
  const lines: { readonly by: string; readonly line: object }[] = [];
  const refusing = started.use(await startRefusing());
  /** What no role may use any more: a service, or a service and a path. */
  const refused = new Set<RegExp>();
  const stack = started.use(
    await startStack({
      ...withToken(deployed),
      texts: { [BASE_URL]: platform.url },
      secret: platform.token,
      onLog: (line, by) => void (line.startsWith('{') && lines.push({ by, line: JSON.parse(line) })),
      sometimes: () => false,
      instead: (service, path) =>
        [...refused].some((each) => each.test(`${service} ${path}`)) ? refusing.endpoint : undefined,
      off: { 'sqs-deliveries-repeat': 'what is refused again is a new line about it' },
    }),
  );
  const environment: Record<string, string> = { ...stack.settingsOf(...POLICIES), LOG_LEVEL: 'silent' };
  const place = { environment, folder };
  const printed = await runLine('npx platform-sync env --stack platform-sync-deployed --json', place);
  Object.assign(environment, JSON.parse(printed));
  /** The credentials and settings of the account's owner. */
  const owner = { environment: { ...environment, ...stack.settings }, folder };
  const queues = new Map(
    resourcesOf(deployed.template, 'AWS::SQS::Queue').map(([id]) => {
      const url = String(stack.resolve({ Ref: id }));
      const client = started.adopt(createSqsClient(url, stack.settings), (each) => each.destroy());
      return [id, createSqsQueue(url, client)] as const;
    }),
  );
  let polling: AsyncDisposable | undefined;
  started.defer(() => polling?.[Symbol.asyncDispose]());
  let sentAtMs = Number.POSITIVE_INFINITY;

  /** The alarms that are red `minutes` from now, by the log lines since `fromMs` and the present state of the queues. */
  async function red(minutes = 0, fromMs = 0): Promise<readonly string[]> {
    const counts = new Map(
      await Promise.all([...queues].map(async ([id, queue]) => [id, await queue.counts()] as const)),
    );
    const recent = lines.filter(
      ({ line }) => Date.parse(Reflect.get(line, 'timestamp') ?? Reflect.get(line, 'time')) >= fromMs,
    );
    const ofQueue = (metric: string, id: string, atMs: number) => {
      const { waiting = 0, inFlight = 0, delayed = 0 } = counts.get(id) ?? {};
      if (metric === 'ApproximateNumberOfMessagesVisible') return waiting;
      return waiting + inFlight + delayed === 0 ? 0 : (atMs - sentAtMs) / 1_000;
    };
    return redAt(deployed.template, { lines: recent, ofQueue }, Date.now() + minutes * 60_000).toSorted();
  }

  async function until<T>(find: () => Promise<T | undefined | false>, what: string): Promise<T> {
    for (let look = 0; look < 300; look += 1) {
      const found = await find();
      if (found !== undefined && found !== false) return found;
      await delay(100);
    }
    const lastLines = lines.slice(-20).map(({ line }) => JSON.stringify(line));
    throw new Error(`expected ${what}; red: ${await red()}; the functions said:\n${lastLines.join('\n')}`);
  }

  const idOf = (start: string) =>
    Object.keys(deployed.template.Resources).find((id) => new RegExp(`^${start}[0-9A-F]{8}$`).test(id)) ?? '';

  async function send(...messages: readonly (object | string)[]): Promise<void> {
    const bodies = messages.map((each) =>
      typeof each === 'string' ? each : JSON.stringify({ version: 1, ...each }),
    );
    sentAtMs = Date.now();
    await queues.get(idOf('JobsQueue'))?.send(bodies);
  }
  async function work(...messages: readonly (object | string)[]): Promise<void> {
    await send(...messages);
    polling ??= await stack.poll();
  }
  /** Lets this number of minutes pass, so that log lines become that much older. */
  function passes(minutes: number): void {
    for (const { line } of lines)
      for (const name of ['timestamp', 'time']) {
        const atMs = Date.parse(String(Reflect.get(line, name)));
        if (atMs > 0) Reflect.set(line, name, new Date(atMs - minutes * 60_000).toISOString());
      }
  }
  let snapshots = 0;
  const run = (line: string, code?: number) => runLine(line, place, code);
  const running = started.move();
  return {
    folder,
    /** Where the commands of the person on call run; `owner`: those of the account's owner. */
    place,
    owner,
    lines,
    stack,
    refused,
    passes,
    red,
    until,
    /** Finds a logical id by its beginning. */
    idOf,
    /** Starts a schedule's function, as at the time `at`. */
    schedule: (start: string, at?: Date) => stack.runSchedule(idOf(start), at),
    run,
    store: await openStore(stack.output('Store'), { s3: stack.settings }),
    printed: async (words: string) => JSON.parse(await run(`npx platform-sync ${words} --json`)),
    platform: () => platform,
    /** Restarts the platform with these options. */
    async becomes(options: Parameters<typeof startPlatform>[0]) {
      await platform.close();
      platform = await startPlatform({ ...small, ...options, port: Number(new URL(platform.url).port) });
    },
    /** Sends messages to the queue of jobs. */
    send,
    /** Sends messages to the queue of jobs, and lets the functions receive messages from now on. */
    work,
    async rest() {
      await polling?.[Symbol.asyncDispose]();
      polling = undefined;
    },
    /** Copies the snapshot that these messages, or one already on the queue, ask for. */
    async take(...messages: readonly object[]) {
      await work(...messages);
      const { name = '' } = await until(async () => stack.lambda.requests[snapshots], 'an execution');
      snapshots += 1;
      return stack.runExecution(name);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
