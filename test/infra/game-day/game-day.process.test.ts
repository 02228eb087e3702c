import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../../../functions/metrics.ts';
import { codePackages } from '../../../lib/sandbox/platform/functions/packages.ts';
import { adds, lines } from '../../cli/start-jobs.ts';
import { blocksOf, textOf } from '../../docs/blocks.ts';
import { linesOf, parseLine } from '../../docs/shell.ts';
import { createTables } from '../../local-aws/services/start-dynamo-db.ts';
import { startSecrets } from '../../local-aws/services/start-secrets.ts';
import { objectCreated } from '../../local-aws/stack/object-created.ts';
import { synthStack } from '../../local-aws/stack/synth-stack.ts';
import { readStack, type StackToRun } from '../../local-aws/stack/template.ts';
import { runAws } from './run-aws.ts';
import { BASE_URL, type Day, startDay } from './start-day.ts';

/*
 * The game day: for each section of the runbook, its problem is caused in an instance on the local AWS until its alarm
 * is red according to the template. Then the section is followed to its end, with the commands as they are on the page.
 *
 * Differences from an account: Throttling and RateReduced take a quarter of an hour, so the function's own code writes
 * their line with a clock of the test. Where dead letters are provoked, 5 receives are enough. The test itself sends
 * Lambda's own message to its queue. The clock skips hours of waiting, and a message that would become visible in 16
 * minutes is sent again. Metrics are computed from log lines and queues by the template's filters and alarms. One
 * command is not run, since no service here supports it: `aws service-quotas request-service-quota-increase`.
 */

const RUNBOOK = 'infra/RUNBOOK.md';
const PARTS = ['Alarm', 'You notice', 'See', 'Fix', 'How it ends'] as const;
const NOT_RUN =
  /^aws service-quotas request-service-quota-increase( --(service-code|quota-code|desired-value) \S+){3}$/;

const sections = textOf(RUNBOOK)
  .split(/^(?=## )/m)
  .slice(1)
  .map((text) => {
    const parts = text.split(/^\*\*(.+?)\.\*\*/gm);
    const commandsOf = (part: string) =>
      blocksOf(RUNBOOK, parts[parts.indexOf(part) + 1] ?? '').flatMap((block) => linesOf(block.text));
    const name = /^## (\w+)/.exec(text)?.[1] ?? '';
    return {
      name,
      parts: parts.filter((_, index) => index % 2 === 1),
      see: commandsOf('See'),
      fix: commandsOf('Fix'),
    };
  });

const instance = {
  name: 'deployed',
  baseUrl: BASE_URL,
  tokenParameter: '/deployed/token',
  rate: 2_000,
  schedules: [{ source: 'calculations', cron: '0 2 * * ? *', digest: true }],
  functions: [
    {
      name: 'nightly',
      cron: '0 2 * * ? *',
      packageId: codePackages[0]?.id,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
      inputVariables: { first: 1, second: 2 },
    },
  ],
  alarms: {
    email: 'night@example.com',
    sentimentCallsPerDay: 1,
    sentimentTokensPerDay: 1,
    oldestJobHours: 6,
  },
};

type Event = {
  /** The cause, if several causes lead to the same section. */
  readonly what?: string;
  /** After how many receives a message becomes a dead letter. Default: as in the template. */
  readonly maxReceives?: number;
  readonly provoke: (day: Day) => Promise<unknown>;
  /** The alarms that must become red, with the problems that they name. */
  readonly red: readonly string[];
  /** The number of minutes after which the alarms are red. Default: 0. */
  readonly minutes?: number;
  /** Must match the output of the commands that show the problem. */
  readonly seen: RegExp;
  /** Must match the error in the log line that names the problem. */
  readonly logged?: RegExp;
  /** Whether `doctor` finds it too and exits with 1. */
  readonly isIll?: true;
  /** The operator's actions in addition to the commands that fix the problem. */
  readonly repair?: (day: Day) => unknown;
  /** The values that the operator inserts for variables, taken from the output. */
  readonly given?: (seen: string, day: Day) => Readonly<Record<string, string>>;
  /** Checks that the problem is over. Returns the time after which no log line reports it, unless it is that of the repair. */
  readonly over: (day: Day) => Promise<unknown>;
};

/** Waits until the alarms are red as expected. Counts of queues lag, as AWS documents, so they are read until they agree. */
const isRed = (day: Day, red: readonly string[], minutes = 0, fromMs = 0) =>
  day.until(async () => isDeepStrictEqual(await day.red(minutes, fromMs), red), `red about ${red.join()}`);

const isDone = (day: Day, id: string) =>
  day.until(async () => {
    const done: readonly { readonly id: string }[] = await day.printed('jobs --status done');
    return done.some((each) => each.id === id);
  }, `${id} to be done`);

const doctorSays = async (day: Day, check: string) =>
  expect((await day.printed('doctor')).checks).toContainEqual(
    expect.objectContaining({ name: check, status: 'ok' }),
  );

/** The platform rejects requests that the token may not make, until its user gets the permission. */
const forbidden = {
  provoke: async (day: Day) => {
    await day.becomes({ forbidden: ['runFunction'] });
    await day.work(adds('job'));
  },
  red: ['Ticket: Forbidden', 'Ticket: JobsFailed'],
  seen: /\bjob\b.*failed/is,
  repair: (day: Day) => day.becomes({}),
  given: () => ({ JOB: 'job' }),
  over: (day: Day) => isDone(day, 'job'),
};

/** One batch was scored, and another one is on the queue. */
const scored = {
  provoke: async (day: Day) => {
    await day.store.put(
      'texts/may.csv',
      Buffer.from('id,text\na,The delivery was late.\nb,The price was great!'),
    );
    const [bucket = ''] = day.stack.output('Store').split('/').slice(2);
    const request = async (batch: string) => {
      const key = `inbox/${batch}.json`;
      await day.store.put(key, Buffer.from('{"object":"texts/may.csv","text":"text","id":"id"}'));
      await day.stack.emit(objectCreated({ bucket, key, sizeBytes: 58, etag: 'b57f' }));
    };
    await request('may');
    await day.work();
    await isRed(day, ['Page: SentimentCalls', 'Page: SentimentTokens']);
    await day.rest();
    await request('june');
  },
  red: ['Page: SentimentCalls', 'Page: SentimentTokens'],
  seen: /june/,
  given: () => ({ BATCH: 'june' }),
  over: async (day: Day) => {
    await day.work();
    const areDone = async () =>
      (await day.printed('batches')).every(({ status }: { readonly status: string }) => status === 'done');
    await day.until(areDone, 'no batch in progress');
  },
};

/** A resource rejects all use until the permission is restored. Only the job that needs it shows the problem. */
const refused = (
  what: string,
  {
    resource,
    pattern,
    logged,
    isIll,
  }: Record<'pattern' | 'logged', RegExp> & Pick<Event, 'isIll'> & { readonly resource: string },
): Event => ({
  what,
  provoke: async (day) => {
    day.refused.add(pattern);
    await day.work(adds('job'));
  },
  red: [`Page: ResourceRefused-${resource}`],
  seen: /./,
  logged,
  ...(isIll && { isIll }),
  repair: (day) => day.refused.clear(),
  over: async (day) => {
    await day.send(adds('job'));
    await isDone(day, 'job');
    const results = `${day.place.environment['SYNC_STORE']}/results/`;
    const list = () => runAws(['aws', 's3', 'ls', '--recursive', results], day.place);
    await day.until(async () => (await list()).includes('job.json'), 'a result');
    await day.until(async () => day.stack.events.length > 0, 'an event');
  },
});

/** Takes two different runs. */
async function takeTwo(day: Day): Promise<void> {
  await day.take({ type: 'snapshot', source: 'calculations', id: 'first' });
  day.platform().churn(3);
  await day.take({ type: 'snapshot', source: 'calculations', id: 'second' });
}

const events: Readonly<Record<string, Event | readonly Event[]>> = {
  Unauthorized: {
    provoke: async (day) => {
      day.platform().setToken('another');
      await day.work(adds('job'));
      await isRed(day, ['Page: Unauthorized']);
      await day.rest();
      day.passes(80);
      await isRed(day, []);
      // Nothing calls the platform any more, although the problem still exists.
      await day.schedule('ExpectedSnapshotsHourly');
    },
    red: ['Page: Unauthorized'],
    seen: /token +failed/,
    isIll: true,
    repair: (day) => writeFileSync(join(day.folder, 'token'), 'another'),
    given: () => ({ PARAMETER: '/deployed/token' }),
    over: async (day) => {
      await doctorSays(day, 'token');
      await day.schedule('ExpectedSnapshotsHourly');
    },
  },
  Forbidden: forbidden,
  Throttling: {
    provoke: async (day) => {
      let now = Date.now() - 20 * 60_000;
      const { observe, flush } = createMetrics(
        { SYNC_STACK: 'platform-sync-deployed' },
        (line) => void day.lines.push({ by: day.idOf('JobsRunJobsFunction'), line: JSON.parse(line) }),
        () => now,
      );
      for (let window = 0; window < 4; window += 1, now += 5 * 60_000)
        for (let call = 0; call < 10; call += 1) {
          observe({ kind: 'request', operation: 'runFunction', status: 200 } as never);
          observe({ kind: 'throttled' } as never);
        }
      flush();
    },
    red: ['Notice: Throttling'],
    seen: /2000|2,000/,
    over: async (day) => expect(await day.printed('pace')).toMatchObject({ rate: 1 }),
  },
  RateReduced: {
    provoke: async (day) => {
      let now = Date.now() - 20 * 60_000;
      const { observe, flush, followPace } = createMetrics(
        { SYNC_STACK: 'platform-sync-deployed', PLATFORM_RATE: '2000' },
        (line) => void day.lines.push({ by: day.idOf('JobsRunJobsFunction'), line: JSON.parse(line) }),
        () => now,
      );
      const noSlots = { granted: 0, used: 0, wasted: 0, waitedMs: 0, throttled: 0 };
      followPace(() => ({ ...noSlots, effectiveRate: 1_000 }));
      for (let window = 0; window < 4; window += 1, now += 5 * 60_000)
        for (let call = 0; call < 10; call += 1) observe({ kind: 'waited', waitedMs: 20 } as never);
      flush();
    },
    red: ['Notice: RateReduced'],
    seen: /2000|2,000/,
    given: () => ({ RATE: '2000' }),
    over: async (day) => expect(await day.printed('pace')).toMatchObject({ rate: 2_000 }),
  },
  TableUnavailable: {
    provoke: async (day) => {
      day.stack.unavailable.add('dynamodb');
      await day.work(adds('job'));
    },
    red: ['Notice: TableUnavailable'],
    seen: /table +failed/,
    isIll: true,
    repair: (day) => day.stack.unavailable.delete('dynamodb'),
    over: (day) => isDone(day, 'job'),
  },
  ResourceMissing: {
    what: 'the table was deleted',
    provoke: async (day) => {
      const table = day.stack.output('TableName');
      await runAws(['aws', 'dynamodb', 'delete-table', '--table-name', table], day.owner);
      await day.work(adds('job'));
    },
    red: ['Page: ResourceMissing-table'],
    seen: /table +failed.*there is no table/s,
    logged: /there is no table .*docs\/restore\.md/,
    isIll: true,
    repair: (day) =>
      createTables(day.place.environment['AWS_ENDPOINT_URL'] ?? '', [day.stack.output('TableName')]),
    over: async (day) => {
      await day.send(adds('job'));
      await isDone(day, 'job');
    },
  },
  ResourceRefused: [
    refused('the table', {
      resource: 'table',
      pattern: /^dynamodb /,
      logged: /not authorized to perform: dynamodb:(Get|Put)Item/,
      isIll: true,
    }),
    refused('the event bus', {
      resource: 'event-bus',
      pattern: /^events /,
      logged: /JobFinished of job .*not authorized to perform: events:PutEvents/,
    }),
    refused('the prefix of results', {
      resource: 'store',
      pattern: /^s3 .*\/results\//,
      logged: /results\/.*not authorized/,
    }),
    {
      ...refused('the start of the snapshot function', {
        resource: 'snapshot-function',
        pattern: /^lambda .*\/invocations/,
        logged: /start execution .*not authorized to perform: lambda:/,
      }),
      provoke: async (day) => {
        day.refused.add(/^lambda .*\/invocations/);
        await day.work({ type: 'snapshot', source: 'calculations', id: 'nightly' });
      },
      over: async (day) => expect(await day.take()).toMatchObject({ result: { kind: 'published' } }),
    },
  ],
  MessagesRefused: {
    provoke: (day) => day.work('{"version":1,"type":"run-funktion"}'),
    red: ['Ticket: MessagesRefused'],
    seen: /"Key":"refused\//,
    repair: (day) => writeFileSync(join(day.folder, 'corrected.ndjson'), lines([adds('corrected')])),
    over: (day) => isDone(day, 'corrected'),
  },
  JobsFailed: forbidden,
  JobsUnknown: {
    provoke: async (day) => {
      await day.becomes({ faults: 1, faultKinds: ['reset-after'] });
      await day.work(adds('job'));
    },
    red: ['Ticket: JobsUnknown'],
    seen: /job.*unknown/is,
    repair: (day) => day.becomes({}),
    given: () => ({ JOB: 'job' }),
    over: async (day) => {
      expect(await day.printed('jobs --status unknown')).toEqual([]);
      await isDone(day, 'job');
    },
  },
  OldestJob: {
    provoke: async (day) => {
      await day.run('npx platform-sync pace --pause');
      await day.send(adds('job'));
    },
    red: ['OldestJob'],
    // Nothing happens for six hours.
    minutes: 361,
    seen: /paused/,
    over: async (day) => {
      await day.work();
      await isDone(day, 'job');
    },
  },
  JobsDeadLetters: {
    maxReceives: 5,
    provoke: async (day) => {
      await day.send(adds('job'));
      // Simulates a message that crashes the process each time.
      const receive = `sqs receive-message --visibility-timeout 0 --queue-url ${day.stack.output('QueueUrl')}`;
      while ((await day.red()).length === 0) await runAws(['aws', ...receive.split(' ')], day.owner);
    },
    red: ['JobsDeadLetters'],
    seen: /addNumbers/,
    over: async (day) => {
      await day.work();
      await isDone(day, 'job');
    },
  },
  RareDeadLetters: {
    provoke: (day) => {
      const attributes = '{"RequestID":{"DataType":"String","StringValue":"b5d1"}}';
      const message = ['--message-body', '{"source":"calculations"}', '--message-attributes', attributes];
      const queue = ['--queue-url', day.stack.output('RareDeadLetterUrl')];
      return runAws(['aws', 'sqs', 'send-message', ...queue, ...message], day.owner);
    },
    red: ['RareDeadLetters'],
    seen: /RequestID/,
    given: (seen, day) => ({
      QUEUE: day.stack.output('RareDeadLetterUrl'),
      RECEIPT: seen === '' ? '' : JSON.parse(seen).Messages[0].ReceiptHandle,
    }),
    over: async (day) => {
      expect(await day.take()).toMatchObject({ result: { kind: 'published' } });
    },
  },
  SnapshotRefused: {
    provoke: async (day) => {
      await takeTwo(day);
      // A missing data file makes a run incomplete.
      await day.take({ type: 'snapshot', source: 'data-files', ids: ['999999'] });
    },
    red: ['Ticket: SnapshotRefused'],
    seen: /refused/,
    given: (seen) => ({ PLACE: 'data-files', RUN: /data-files\s+(\S+)/.exec(seen)?.[1] ?? '' }),
    over: async (day) => expect(await day.printed('runs data-files')).toHaveLength(1),
  },
  SnapshotMissing: {
    provoke: async (day) => {
      expect(await day.schedule('ExpectedSnapshotsHourly')).toEqual({ missing: [] });
      const key = 'work/expected-snapshots.json';
      const state = String((await day.store.get(key))?.body);
      await day.store.put(key, Buffer.from(state.replaceAll(/"sinceMs": ?\d+/g, '"sinceMs":0')));
      await day.schedule('ExpectedSnapshotsHourly');
    },
    red: ['Page: SnapshotMissing-calculations'],
    seen: /./,
    over: async (day) => {
      expect(await day.take()).toMatchObject({ result: { kind: 'published' } });
      expect(await day.schedule('ExpectedSnapshotsHourly')).toEqual({ missing: [] });
    },
  },
  FunctionMissing: {
    provoke: async (day) => {
      await day.schedule('ScheduledFunctionsnightlydue', new Date('2026-11-20T02:00:00Z'));
      await day.schedule('ExpectedSnapshotsHourly');
    },
    red: ['Page: FunctionMissing-nightly'],
    seen: /./,
    over: async (day) => {
      await day.work();
      await isDone(day, 'nightly.2026-11-20T02:00:00Z');
      expect(await day.schedule('ExpectedSnapshotsHourly')).toEqual({ missing: [] });
    },
  },
  FunctionErrors: {
    provoke: async (day) => {
      day.stack.unavailable.add('s3');
      await expect(day.schedule('ExpectedSnapshotsHourly')).rejects.toThrow();
    },
    red: ['Ticket: error'],
    seen: /failed/,
    isIll: true,
    repair: (day) => day.stack.unavailable.delete('s3'),
    over: (day) => day.schedule('ExpectedSnapshotsHourly'),
  },
  FunctionThrottles: {
    provoke: (day) => day.schedule('ExpectedSnapshotsHourly', new Date(Date.now() - 16 * 60_000)),
    red: ['Ticket: FunctionThrottles'],
    seen: /ConcurrentExecutions/,
    over: (day) => day.schedule('ExpectedSnapshotsHourly'),
  },
  ReportFailed: {
    provoke: async (day) => {
      await takeTwo(day);
      day.stack.unavailable.add('sns');
      for (let look = 0; look < 3; look += 1)
        await expect(day.schedule('ReportsFindNewRuns')).rejects.toThrow();
    },
    red: ['Ticket: ReportFailed'],
    seen: /report/,
    repair: (day) => day.stack.unavailable.delete('sns'),
    over: async (day) => {
      const look = await day.schedule('ReportsFindNewRuns');
      expect(look).toMatchObject({ report: 'written', digests: [{ place: 'calculations' }] });
      // Before that, failed jobs are reported once more, since their process may have been killed.
      const at = Date.now();
      await day.schedule('ReportsFindNewRuns');
      return at;
    },
  },
  SentimentCalls: scored,
  SentimentTokens: scored,
};

let deployed: StackToRun;
const running = new AsyncDisposableStack();

beforeAll(async () => {
  deployed = await readStack(running.use(await synthStack(instance)).folder);
}, 120_000);

afterAll(() => running.disposeAsync());

/** The messages of the lines that name one of these problems. */
const errorsOf = (day: Day, red: readonly string[]) =>
  day.lines
    .map(({ line }) => line as { readonly problem?: string; readonly err?: { readonly message: string } })
    .filter(({ problem = '' }) => red.some((each) => each.endsWith(`: ${problem}`)))
    .map(({ err }) => err?.message)
    .join('\n');

/** Runs a command of the page. */
async function follow(
  line: string,
  day: Day,
  given: Readonly<Record<string, string>>,
  isIll = false,
): Promise<string> {
  const filled = line.replaceAll(
    /\$([A-Z_]+)/g,
    (match, each) => given[each] ?? day.place.environment[each] ?? match,
  );
  expect(filled).not.toContain('$');
  const [words = []] = parseLine(filled).stages.map((stage) => stage.words);
  if (words[0] !== 'aws') return day.run(filled, isIll && filled.endsWith(' doctor') ? 1 : 0);
  if (words[1] === 'secretsmanager') return withSecret(words, day);
  if (words[1] === 'service-quotas') return String(expect(filled).toMatch(NOT_RUN));
  return runAws(words, day.place);
}

/** Runs the command for a token in a secret, which this instance does not have. */
async function withSecret(words: readonly string[], day: Day): Promise<string> {
  const secret = words[words.indexOf('--secret-id') + 1] ?? '';
  await using secrets = await startSecrets({ [secret]: 'old' });
  const environment = { ...day.place.environment, AWS_ENDPOINT_URL: secrets.endpoint };
  return await runAws(words, { ...day.place, environment });
}

test.each(sections)(
  '$name has an event that sets it off, and its runbook section has all parts',
  ({ name, parts, see, fix }) => {
    expect(parts).toEqual(PARTS);
    expect([see, fix]).not.toContainEqual([]);
    expect([events[name]].flat()).not.toContain(undefined);
  },
);

const happenings = sections.flatMap((section) =>
  [events[section.name] ?? []].flat().map((event) => ({ ...section, event, what: event.what ?? 'it' })),
);

test.each(happenings)(
  '$name, $what: the alarm goes off, and its runbook section solves the problem',
  async ({ see, fix, event }) => {
    const { template, assets } = deployed;
    const receives = JSON.stringify(template).replaceAll(
      '"maxReceiveCount":1000',
      `"maxReceiveCount":${event.maxReceives ?? 1_000}`,
    );
    await using day = await startDay({ template: JSON.parse(receives), assets });
    await event.provoke(day);
    await isRed(day, event.red, event.minutes);
    if (event.logged !== undefined) expect(errorsOf(day, event.red)).toMatch(event.logged);

    const first = event.given?.('', day) ?? {};
    const printed: string[] = [];
    for (const line of see) printed.push(await follow(line, day, first, event.isIll));
    const seen = printed.join('\n');
    expect(seen).toMatch(event.seen);

    await event.repair?.(day);
    const repairedAt = Date.now();
    for (const line of fix) await follow(line, day, event.given?.(seen, day) ?? {});
    const overAt = await event.over(day);

    // No more lines report it, and the alarm ends 75 minutes after the last line.
    await isRed(day, [], 0, typeof overAt === 'number' ? overAt : repairedAt);
    await isRed(day, [], 81);
    await isRed(
      day,
      event.red.filter((each) => each.includes(': ')),
      60,
    );
  },
  // A section runs about twenty commands, each in a separate process.
  180_000,
);

test('an AWS command is refused if its operation or option does not exist', async () => {
  const place = { environment: {}, folder: '.' };

  await expect(runAws(['aws', 'sqs', 'read-message'], place)).rejects.toThrow('expected an operation of sqs');
  await expect(runAws(['aws', 'sqs', 'receive-message', '--queue', 'q'], place)).rejects.toThrow(
    'got --queue',
  );
  await expect(runAws(['aws', 's3', 'list', 's3://b/k'], place)).rejects.toThrow();
});
