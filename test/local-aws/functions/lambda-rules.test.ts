import { expect, test } from 'vitest';
import { lambdaRules, sometimes } from './lambda-rules.ts';

test.for(Object.entries(lambdaRules))('%s: the page of the documentation is named', ([, { says, page }]) => {
  expect(says).toMatch(/^[A-Z].*\.$/);
  expect(page).toMatch(/^https:\/\/docs\.aws\.amazon\.com\/lambda\/latest\/dg\/[a-z-]+\.html/);
});

function draw(seed: number): readonly boolean[] {
  const occurs = sometimes(seed);
  return Array.from({ length: 2_000 }, () => occurs('recycles'));
}

test('what happens now and then happens 1 of 20 times, and by the seed alone', () => {
  const drawn = draw(1);

  expect(drawn.filter(Boolean).length).toBeGreaterThan(60);
  expect(drawn.filter(Boolean).length).toBeLessThan(140);
  expect(draw(1)).toEqual(drawn);
  expect(draw(2)).not.toEqual(drawn);
});
