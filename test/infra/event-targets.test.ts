import { expect, test } from 'vitest';
import { createAccess } from '../local-aws/permissions/access.ts';
import { targetsOf } from '../local-aws/stack/event-targets.ts';
import type { Template } from '../local-aws/stack/template.ts';
import { templateValues } from '../local-aws/stack/template-values.ts';
import { full, minimal, templateOf } from './instances.ts';

const template = templateOf({ ...minimal, eventRules: full.eventRules.slice(1) }).toJSON() as Template;

const event = { id: 'e-1', source: 'mine', detail: { text: '$& <b> "quoted"' } };

function targetsIn(text: string) {
  const changed = JSON.parse(text) as Template;
  const resolve = templateValues(changed, { endpoint: 'http://127.0.0.1' });
  const deployed = { template: changed, resolve };
  return targetsOf(event, { ...deployed, access: createAccess(deployed) });
}

test.each([
  ['a queue that does not let the rule send', 'events.amazonaws.com', 'sns.amazonaws.com', /not authorized/],
  ['a queue that lets other rules send', ':rule/', ':rule/of-another-stack-', /not authorized/],
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
