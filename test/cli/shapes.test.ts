import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { createProgram } from '../../lib/cli/command-line.ts';
import { checkedShape } from './checked-shape.ts';
import { createFakeTerminal } from './fake-terminal.ts';
import { withAllBelow } from './parse-only.ts';
import { shapes } from './shapes/shapes.ts';

const fileOf = (words: string) => `${words.replaceAll(' ', '-')}.json`;

/** What later versions add must not break a reader, so members that are not named are allowed. */
function schemaOf(words: string): string {
  const title = words === 'error' ? 'An error of any command with --json' : `platform-sync ${words} --json`;
  const made = z.toJSONSchema(shapes[words] ?? z.never(), {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  const { $schema, ...schema } = made;
  return `${JSON.stringify({ $schema, title, ...schema }, undefined, 2)}\n`;
}

test.each(Object.keys(shapes))('docs/schemas has what %s prints', async (words) => {
  await expect(schemaOf(words)).toMatchFileSnapshot(`../../docs/schemas/${fileOf(words)}`);
});

test('every command that has --json has a schema, and every schema a command', () => {
  const program = createProgram(createFakeTerminal().terminal, () => undefined);
  const words = program.commands
    .flatMap(withAllBelow)
    .filter(({ options }) => options.some(({ long }) => long === '--json'))
    .map((command) =>
      [command.parent?.name(), command.name()].filter((name) => name !== 'platform-sync').join(' '),
    )
    // All sources have one shape.
    .map((each) => each.replace(/^snapshot .*/, 'snapshot'));

  expect([...new Set(words), 'error'].toSorted()).toEqual(Object.keys(shapes).toSorted());
  expect(readdirSync('docs/schemas').toSorted()).toEqual(Object.keys(shapes).map(fileOf).toSorted());
});

test('a value of another shape is noticed: an unknown member, a number in place of an id', () => {
  const job = {
    id: '1',
    type: null,
    state: 'DONE',
    attempts: 1,
    startedAt: null,
    finishedAt: null,
    error: null,
  };
  const check = (value: object) => () =>
    checkedShape(['jobs', '--json'], { code: 0, out: JSON.stringify(value) });

  expect(check([job])).not.toThrow();
  expect(check([{ ...job, id: 1 }])).toThrow('not what docs/schemas says');
  expect(check([{ ...job, more: 1 }])).toThrow('not what docs/schemas says');
});
