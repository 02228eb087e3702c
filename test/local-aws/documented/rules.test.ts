import { expect, test } from 'vitest';
import { lambdaRules } from '../functions/lambda-rules.ts';
import { rules } from './rules.ts';

test('each rule says what AWS documents, in one sentence, and on which of its pages', () => {
  const all = Object.entries<{ readonly says: string; readonly page: string }>({ ...rules, ...lambdaRules });

  const wrong = all.filter(
    ([, { says, page }]) => !/^[A-Z].*[^.]\.$/.test(says) || !page.startsWith('https://docs.aws.amazon.com/'),
  );

  expect(wrong).toEqual([]);
});
