import { expect, test } from 'vitest';
import { targetsOf } from '../local-aws/stack/event-targets.ts';
import type { Template } from '../local-aws/stack/template.ts';
import { templateValues } from '../local-aws/stack/template-values.ts';
import { full, least, templateOf } from './instances.ts';

const template = templateOf({ ...least, eventRules: full.eventRules.slice(1) }).toJSON() as Template;

const event = { id: 'e-1', source: 'mine', detail: { text: '$& <b> "quoted"' } };

function targetsIn(text: string) {
  const changed = JSON.parse(text) as Template;
  return targetsOf(event, changed, templateValues(changed, { endpoint: 'http://127.0.0.1' }));
}

test('an event goes to the queue of the rule that matches it, as the rule’s message', () => {
  const [target, ...others] = targetsIn(JSON.stringify(template));

  expect(others).toEqual([]);
  expect(target).toMatchObject({ kind: 'queue', queue: expect.stringMatching(/^JobsFunctionsQueue/) });
  expect(JSON.parse(String(Reflect.get(target ?? {}, 'body')))).toMatchObject({ rule: 'bare', event });
});

test.each([
  ['a queue that does not let the rule send', 'events.amazonaws.com', 'sns.amazonaws.com', /may use/],
  ['a queue that lets other rules send', ':rule/', ':rule/of-another-stack-', /may use/],
  [
    'another variable',
    '<aws.events.event.json>',
    '<aws.events.rule-arn>',
    /expected <aws\.events\.event\.json>/,
  ],
  ['quotes around the event', '<aws.events.event.json>', '\\"<aws.events.event.json>\\"', /got "</],
  ['no comma before it', ',\\"event\\":', '\\"event\\":', /JSON/],
])('%s is an error', (_, from, to, message) => {
  const text = JSON.stringify(template);
  const changed = text.replaceAll(from, to);

  expect(changed).not.toBe(text);
  expect(() => targetsIn(changed)).toThrow(message);
});

test('an event on a bus goes to the rules of that bus alone', () => {
  const [bare] = full.eventRules.slice(1);
  const eventRules = [bare, { ...bare, name: 'elsewhere', bus: 'orders' }];
  const both = templateOf({ ...least, eventRules }).toJSON() as Template;
  const resolve = templateValues(both, { endpoint: 'http://127.0.0.1' });
  const rulesFor = (bus?: string) =>
    targetsOf(event, both, resolve, bus).map(
      (target) => JSON.parse(String(Reflect.get(target, 'body'))).rule,
    );

  expect(rulesFor()).toEqual(['bare']);
  expect(rulesFor('orders')).toEqual(['elsewhere']);
});
