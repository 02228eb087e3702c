import { readFileSync } from 'node:fs';

const PAGE = 'docs/install.md';

const BLOCK = /<!-- test: (?<name>\w+) -->\n```\w+\n(?<code>[\s\S]*?)```\n/g;

/** The examples of this page that tests run, by the name in the comment above each. */
const examples: ReadonlyMap<string, string> = new Map(
  [...readFileSync(PAGE, 'utf8').matchAll(BLOCK)].map(
    ({ groups }) => [groups?.['name'] ?? '', groups?.['code'] ?? ''] as const,
  ),
);

/** An example exactly as in the text. Throws if no example has the name. */
export function example(name: string): string {
  const code = examples.get(name);
  if (code === undefined) throw new Error(`expected an example ${name} in ${PAGE}`);
  return code;
}

/** What each program prints on a platform without a data file 99999999. */
export const printed = {
  client: '300 calculations\n',
  options: 'status 404 after 1 attempt, sent: true\n',
  formula: [
    '1:12: Expected ")", but the formula ends here. The "(" at line 1, column 4 is not closed.',
    "[ 'Sales', 'Customer' ] [ 'COUNT', 'SERVICE_OP_DIVIDE', 'SUM' ]",
    'SUM(`Sales`)',
    '',
  ].join('\n'),
} as const satisfies Readonly<Record<string, string>>;
