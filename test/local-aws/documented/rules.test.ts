import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
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

test('the rules are listed in docs/local-aws.md as they are here, each with its page', async () => {
  const docs = await readFile('docs/local-aws.md', 'utf8');

  const listed = docs.split('\n').filter((line) => line.startsWith('| `'));

  expect(listed).toEqual([...allRules.map(rowOf), ...lambdaRows]);
});
