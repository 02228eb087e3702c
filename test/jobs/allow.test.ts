import { describe, expect, test } from 'vitest';
import { allowFault, readAllow } from '../../lib/jobs/allow.ts';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import type { Job } from '../../lib/jobs/types/job-types.ts';
import { jobTypes } from '../../lib/jobs/types/job-types.ts';
import type { ScoreJob } from '../../lib/jobs/types/score/message.ts';
import { SettingsError } from '../../lib/settings.ts';

const PACKAGE = '0f8fad5b-d9cb-469f-a165-70867728950e';
const OTHER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

type RunFunctionJob = Extract<Job, { readonly type: 'run-function' }>;

const greet: RunFunctionJob = {
  version: 1,
  type: 'run-function',
  id: 'a',
  packageId: PACKAGE,
  packageVersion: '1.0.0',
  functionName: 'greet',
  onUnknown: 'fail',
};
const score: ScoreJob = { version: 1, type: 'score', id: 'b', texts: [{ id: 'a', text: 'fine' }] };

/** The reason why SYNC_ALLOW with this value does not allow a job; undefined if it does. */
const faultOf = (setting: object, job: RunFunctionJob | ScoreJob = greet) =>
  allowFault(readAllow(JSON.stringify(setting)), job);

describe('the allowed operations', () => {
  test.each([undefined, '{}'])('include everything if the setting is %j', (text) => {
    expect(allowFault(readAllow(text), greet)).toBeUndefined();
    expect(allowFault(readAllow(text), score)).toBeUndefined();
  });

  test('are those that every list allows', () => {
    expect(
      faultOf({ types: ['run-function'], packages: [PACKAGE.toUpperCase()], functions: ['greet'] }),
    ).toBe(undefined);
    expect(faultOf({ types: ['score'] })).toBe(
      'type: expected one that SYNC_ALLOW allows (score), got "run-function"',
    );
    expect(faultOf({ packages: [OTHER] })).toMatch(/^packageId: expected one that SYNC_ALLOW allows/);
    expect(faultOf({ packages: [OTHER], functions: ['greet'] })).toMatch(/^packageId/);
    expect(faultOf({ functions: ['Greet'] })).toMatch(
      /^functionName: expected one that SYNC_ALLOW allows \(Greet\)/,
    );
  });

  test('include nothing if a list is empty', () => {
    expect(faultOf({ types: [] }, score)).toBe(
      'type: expected one that SYNC_ALLOW allows (none), got "score"',
    );
    expect(faultOf({ functions: [] })).toMatch(/^functionName/);
    expect(faultOf({ packages: [] })).toMatch(/^packageId/);
  });

  test('may be a single released function', () => {
    expect(faultOf({ functions: [`${PACKAGE.toUpperCase()}/1.0.0/greet`] })).toBeUndefined();
    expect(faultOf({ functions: [`${PACKAGE}/1.0.1/greet`] })).toMatch(/^functionName/);
    expect(faultOf({ functions: [`${OTHER}/1.0.0/greet`] })).toMatch(/^functionName/);
  });

  test('list one function in each entry, and a slash in a version or a name is refused', () => {
    const entry = `${PACKAGE}/1.0.0/x/y`;
    const faultsOf = (packageVersion: string, functionName: string) => {
      const message = JSON.stringify({ ...greet, packageVersion, functionName });
      const parsed = parseMessage(message, { messageId: 'm', allow: { functions: [entry] } });
      return parsed.kind === 'refused' ? parsed.faults : [];
    };

    expect(faultsOf('1.0.0', 'x/y')).toEqual(['functionName: expected a name without slashes, got "x/y"']);
    expect(faultsOf('1.0.0/x', 'y')).toEqual([
      'packageVersion: expected a name without slashes, got "1.0.0/x"',
    ]);
    expect(() => readAllow(JSON.stringify({ functions: [entry] }))).toThrow(
      'SYNC_ALLOW.functions.0: expected PACKAGE/VERSION/FUNCTION with the package’s UUID, or FUNCTION',
    );
  });

  test('of other job types are not limited by the lists of packages and functions', () => {
    expect(faultOf({ packages: [], functions: [] }, score)).toBeUndefined();
  });
});

test('an invalid setting reports all faults together', () => {
  const text = `{"types":["scores"],"packages":["x"],"functions":["1.0/greet","${PACKAGE}/greet"],"all":1}`;

  expect(() => readAllow(text)).toThrow(
    new SettingsError([
      `SYNC_ALLOW.types.0: expected one of ${jobTypes.join(', ')}, got "scores"`,
      'SYNC_ALLOW.packages.0: expected a UUID (8-4-4-4-12 hex digits), got "x"',
      'SYNC_ALLOW.functions.0: expected PACKAGE/VERSION/FUNCTION with the package’s UUID, or FUNCTION, got "1.0/greet"',
      `SYNC_ALLOW.functions.1: expected PACKAGE/VERSION/FUNCTION with the package’s UUID, or FUNCTION, got "${PACKAGE}/greet"`,
      'SYNC_ALLOW.all: not a known name',
    ]),
  );
  expect(() => readAllow('{')).toThrow('SYNC_ALLOW: expected JSON, got invalid JSON (1 characters)');
  expect(() => readAllow('[]')).toThrow('SYNC_ALLOW: expected an object');
});
