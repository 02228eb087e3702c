import type { InputTransformer } from '@aws-sdk/client-eventbridge';
import { expect, test } from 'vitest';
import { printJson } from '../../lib/base/json/json.ts';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import { startBus } from '../conformance/services/start-bus.ts';
import { full, minimal, resourcesOf, templateOf } from './instances.ts';

const inputVariables = {
  text: '$.detail.text',
  number: '$.detail.number',
  nothing: '$.detail.nothing',
  list: ['$.detail.list[1]', 'a "constant" with \\ and ü'],
  absent: { $path: '$.detail.absent', $default: null },
  left: { $path: '$.detail.absent', $optional: true },
  price: { $constant: '$5' },
};

/** The transformer in the stack of an event rule with these variables. */
function transformerOf(variables: object): InputTransformer {
  const eventRules = [{ ...full.eventRules[1], inputVariables: variables }];
  const [target] = resourcesOf(templateOf({ ...minimal, eventRules })).flatMap(([id, { Properties }]) =>
    id.startsWith('Eventsbare')
      ? (Properties['Targets'] as readonly { readonly InputTransformer: InputTransformer }[])
      : [],
  );
  if (target === undefined) throw new Error('expected a rule with a target');
  return target.InputTransformer;
}

const entry = (detail: object) => ({ Source: 'mine', DetailType: 'Any', Detail: printJson(detail) });
const jobOf = (body: string) => parseMessage(body, { messageId: 'of-the-queue', allow: {} });

test('the message that the event bus builds from an event is a job with unchanged fields', async () => {
  using bus = await startBus({ source: ['mine'] }, transformerOf(inputVariables));

  const id = await bus.put(
    entry({ text: 'a "quoted" \\ <b>\n😀', number: 12345678901234567890n, nothing: null, list: [0, [{}]] }),
  );

  expect((await bus.bodies()).map(jobOf)).toMatchObject([
    {
      kind: 'job',
      job: {
        id: `bare.${id}`,
        inputVariables: {
          text: 'a "quoted" \\ <b>\n😀',
          number: 12345678901234567890n,
          nothing: null,
          list: [[{}], 'a "constant" with \\ and ü'],
          absent: null,
          price: '$5',
        },
      },
    },
  ]);
});

test('an event that lacks a field still becomes a message, whose refusal names the field', async () => {
  using bus = await startBus({ source: ['mine'] }, transformerOf(inputVariables));

  await bus.put(entry({ text: '', number: 1, list: [] }));

  expect((await bus.bodies()).map(jobOf)).toMatchObject([
    {
      kind: 'refused',
      faults: [
        expect.stringMatching(
          /^inputVariables\.nothing: expected \$\.detail\.nothing in the event of rule bare/,
        ),
        expect.stringMatching(/^inputVariables\.list\.0: .* \$\.detail\.list is a list of 0$/),
      ],
    },
  ]);
});
