import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProgram } from '../../lib/cli/command-line.ts';
import { checkedShape, shapeOf } from './checked-shape.ts';
import { createFakeTerminal } from './fake-terminal.ts';
import { withAllBelow } from './parse-only.ts';

const named = readdirSync('docs/schemas').map((file) => file.replace('.json', ''));

test.each(named)('the schema %s is a valid JSON Schema', (name) => {
  expect(shapeOf(name)).toBeInstanceOf(Function);
});

test('every command with --json has a schema, and every schema has a command', () => {
  const program = createProgram(createFakeTerminal().terminal, () => undefined);
  const words = program.commands
    .flatMap(withAllBelow)
    .filter(({ options }) => options.some(({ long }) => long === '--json'))
    .map((command) =>
      [command.parent?.name(), command.name()].filter((name) => name !== 'platform-sync').join(' '),
    )
    // The snapshots of all sources share one schema.
    .map((each) => each.replace(/^snapshot (?!all$).*/, 'snapshot'));

  const expected = [...new Set(words), 'error'].map((each) => each.replaceAll(' ', '-'));
  expect(named.toSorted()).toEqual(expected.toSorted());
});

test('a schema rejects an unknown member, and a number instead of an id', () => {
  const job = {
    id: '1',
    type: null,
    status: 'done',
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
