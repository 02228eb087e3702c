import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { lambdaRules } from '../functions/lambda-rules.ts';
import type { Rule } from './rule.ts';
import { rules } from './rules.ts';

const allRules: readonly (readonly [string, Rule])[] = Object.entries(rules);

const rowOf = ([name, { kind, says, page }]: readonly [string, Listed]): string =>
  `| \`${name}\` | ${kind} | ${says} | [page](${page}) |`;

type Listed = Pick<Rule, 'kind' | 'says' | 'page'>;

const lambdaRows = Object.entries(lambdaRules).map(([name, rule]) =>
  rowOf([`lambda-${name}`, { ...rule, kind: 'oneIn' in rule ? 'weak' : 'strict' }]),
);

describe('the rules', () => {
  test('are listed in docs/local-aws.md as they are here, each with its page', async () => {
    const docs = await readFile('docs/local-aws.md', 'utf8');

    const listed = docs.split('\n').filter((line) => line.startsWith('| `'));

    expect(listed).toEqual([...allRules.map(rowOf), ...lambdaRows]);
  });

  test('are named after their service, and say it in one sentence', () => {
    for (const [name, { service, says }] of allRules) {
      expect(name).toMatch(new RegExp(`^${service}-[a-z-]+$`));
      expect(says).toMatch(/^[A-Z][^|]*\.$/);
    }
  });

  test.for(allRules.map(([name, { page }]) => [name, page] as const))(
    '%s has a page of AWS’s documentation',
    ([, page]) => {
      expect(page).toMatch(/^https:\/\/docs\.aws\.amazon\.com\/[\w/.-]+\.html$/);
    },
  );
});
