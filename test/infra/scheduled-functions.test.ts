import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../infra/config.ts';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import { appOf, full, minimal, packageId, resourcesOf, templateOf } from './instances.ts';

const [sums = {}] = full.functions;

function faultsIn(instance: object): readonly string[] {
  try {
    readConfig({ instances: [{ ...minimal, ...instance }] });
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map((fault) => fault.replace('instances.0.', ''));
    throw error;
  }
  return [];
}

type Target = { readonly Arn: object; readonly Input: string; readonly RoleArn: object };

/** The schedules of functions, with the queue and the message of each. */
const schedulesOf = (instance: object) =>
  resourcesOf(templateOf(instance))
    .filter(([id, { Type }]) => Type === 'AWS::Scheduler::Schedule' && id.startsWith('ScheduledFunctions'))
    .map(([, { Properties }]) => {
      const { Arn, Input } = Properties['Target'] as Target;
      const said = Input.replaceAll('<aws.scheduler.scheduled-time>', '2026-11-30T00:00:00Z');
      return {
        to: JSON.stringify(Arn).replace(/^.*?"([A-Za-z]+?)[0-9A-F]{8}".*$/, '$1'),
        said,
        cron: Properties['ScheduleExpression'],
        zone: Properties['ScheduleExpressionTimezone'],
      };
    });

describe('a scheduled function', () => {
  test('becomes a message of a job with the scheduled time in its id, and an event that announces it', () => {
    const [message, due] = schedulesOf(full);

    expect(message).toMatchObject({
      to: 'JobsFunctionsQueue',
      cron: 'cron(0 1 ? * MON-FRI *)',
      zone: 'Europe/Berlin',
    });
    expect(due).toMatchObject({
      to: 'ExpectedSnapshotsWatchFunction',
      cron: message?.cron,
      zone: message?.zone,
    });
    expect(parseMessage(message?.said ?? '', { messageId: 'm', allow: {} })).toMatchObject({
      kind: 'job',
      hasExplicitId: true,
      job: {
        type: 'run-function',
        id: 'sums.2026-11-30T00:00:00Z',
        packageId,
        packageVersion: '1.0.0',
        functionName: 'addNumbers',
        inputVariables: { first: 1, until: '2026-11-30T00:00:00Z' },
        onUnknown: 'retry',
      },
    });
    expect(JSON.parse(due?.said ?? '')).toEqual({ due: 'sums.2026-11-30T00:00:00Z' });
  });

  test('may return formulas, which the job imports', () => {
    const [message] = schedulesOf({ ...minimal, functions: [{ ...sums, importFormulas: true }] });

    expect(parseMessage(message?.said ?? '', { messageId: 'm', allow: {} })).toMatchObject({
      job: { importFormulas: true },
    });
  });

  test('uses the queue of all jobs if code functions have no queue of their own, at no cost', () => {
    const [message] = schedulesOf({ ...minimal, functions: [sums] });

    expect(message?.to).toBe('JobsQueue');
  });

  test('is in the hourly check for missing jobs, by its name', () => {
    const [input] = resourcesOf(templateOf({ ...minimal, functions: [sums] }))
      .filter(([id]) => id.startsWith('ExpectedSnapshotsHourly'))
      .map(([, { Properties }]) => (Properties['Target'] as Target).Input);

    expect(JSON.parse(input ?? '')).toMatchObject({ functions: ['sums'] });
  });

  test('adds no queue to the stack', () => {
    const queuesOf = (instance: object) =>
      resourcesOf(templateOf(instance)).flatMap(([id, { Type }]) => (Type === 'AWS::SQS::Queue' ? [id] : []));

    expect(queuesOf({ ...minimal, functions: [sums] })).toEqual(queuesOf(minimal));
  });

  test('stops synth if its input exceeds 256 KB', () => {
    const large = { ...sums, inputVariables: { text: 'x'.repeat(270_000) } };
    const { exitCode } = process;

    expect(() => appOf({ ...minimal, functions: [large] }).synth()).toThrow(
      /expected at most 262144 bytes of input, got 27\d{4}/,
    );

    process.exitCode = exitCode;
  });
});

describe('a fault of a scheduled function is reported with its name:', () => {
  test.each([
    ['no cron', { cron: undefined }, 'cron: expected a cron expression of six fields'],
    ['a cron of five fields', { cron: '0 2 * * *' }, 'cron: expected a cron expression of six fields'],
    [
      'a cron that never comes',
      { cron: '0 2 30 2 ? *' },
      'cron: expected a cron expression that matches a date in',
    ],
    ['an invalid time zone', { timeZone: 'Mars' }, 'timeZone: expected '],
    ['a package that is no UUID', { packageId: 'x' }, 'packageId: expected the UUID of a package, got "x"'],
    ['a version with a slash', { packageVersion: '1/0' }, 'packageVersion: expected a value without slashes'],
    ['no function', { functionName: '' }, 'functionName: expected a value without slashes'],
    [
      'inputs that are none',
      { inputVariables: [1] },
      'inputVariables: expected an object of input variables',
    ],
    [
      'a number that JSON rounds',
      { inputVariables: { a: [2 ** 60] } },
      'inputVariables.a.0: expected a number',
    ],
    [
      'a word that differs with each attempt',
      { inputVariables: { a: '<aws.scheduler.execution-id>' } },
      'inputVariables.a: expected no placeholder of EventBridge Scheduler except <aws.scheduler.scheduled-time>',
    ],
    [
      'inputs that are nested too deeply',
      { inputVariables: JSON.parse(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`) },
      'inputVariables.a: expected at most 90 levels of lists and objects',
    ],
    ['an invalid onUnknown', { onUnknown: 'again' }, 'onUnknown: expected fail or retry, got "again"'],
    ['an invalid importFormulas', { importFormulas: 'yes' }, 'importFormulas: expected true, got "yes"'],
    ['an unknown field', { chron: 1 }, 'chron: expected no such field, got 1'],
  ])('%s', (_, wrong, fault) => {
    expect(faultsIn({ functions: [{ ...sums, ...wrong }] })).toEqual([
      expect.stringMatching(/^functions\.0 \(sums\)\./),
    ]);
    expect(faultsIn({ functions: [{ ...sums, ...wrong }] })[0]).toContain(fault);
  });

  test.each([
    ['two of one name', [sums, sums], 'functions.1 (sums).name: expected a name that no other function has'],
    [
      'the name of a source, whose snapshots have the same ids',
      [{ ...sums, name: 'calculations' }],
      'functions.0 (calculations).name: expected a name other than calculations, files, cards, data-files',
    ],
    [
      'a name with a dot',
      [{ ...sums, name: 'a.b' }],
      'functions.0 (a.b).name: expected a name: a lower-case letter',
    ],
  ])('%s', (_, functions, fault) => {
    expect(faultsIn({ functions })).toEqual([expect.stringContaining(fault)]);
  });

  test.each([
    [
      { types: ['snapshot'] },
      'allow.types: expected run-function in the list, or no functions, got ["snapshot"]',
    ],
    [
      { functions: ['g'] },
      'functions.0 (sums).functionName: expected a value that allow lists (add it there), got "addNumbers"',
    ],
    [{ functions: ['addNumbers'], packages: [packageId] }, undefined],
  ])('a function that `allow` excludes, but none that it includes: %j', (allow, fault) => {
    expect(faultsIn({ functions: [sums], allow })).toEqual(fault === undefined ? [] : [fault]);
  });

  test('even the longest name gives a valid job id', () => {
    const name = `a${'-'.repeat(40)}`;
    const [message] = schedulesOf({ ...minimal, functions: [{ ...sums, name }] });

    expect(faultsIn({ functions: [{ ...sums, name }] })).toEqual([]);
    expect(parseMessage(message?.said ?? '', { messageId: 'm', allow: {} })).toMatchObject({
      job: { id: `${name}.2026-11-30T00:00:00Z` },
    });
  });
});
