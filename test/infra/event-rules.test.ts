import { expect, test } from 'vitest';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import { full, minimal, packageId, propertiesOf, resourcesOf, templateOf } from './instances.ts';

type Transformer = { readonly InputPathsMap?: object; readonly InputTemplate: string };

type Rule = {
  readonly EventPattern: object;
  readonly Targets: readonly { readonly Arn: unknown; readonly InputTransformer?: Transformer }[];
};

const rulesOf = (instance: object) =>
  new Map(
    resourcesOf(templateOf(instance)).flatMap(([id, { Type, Properties }]) =>
      Type === 'AWS::Events::Rule' ? [[id.replace(/[0-9A-F]{8}$/, ''), Properties as unknown as Rule]] : [],
    ),
  );

const rules = rulesOf(full);
const uploads = rules.get('Eventsuploads');

/** The message that EventBridge builds from an event: the template with the event inserted for its variable. */
function messageOf(rule: Rule | undefined, event: object) {
  const { InputTemplate: template, ...others } = rule?.Targets[0]?.InputTransformer ?? { InputTemplate: '' };
  expect(others).toEqual({});
  expect(template.match(/<[^>]*>/g)).toEqual(['<aws.events.event.json>']);
  const text = template.replace('<aws.events.event.json>', () => JSON.stringify(event));
  return parseMessage(text, { messageId: 'of-sqs', allow: {} });
}

const upload = (object: object) => ({
  version: '0',
  id: '17793124-05d4-b198-2fde-7ededc63b103',
  'detail-type': 'Object Created',
  source: 'aws.s3',
  detail: { bucket: { name: 'uploads' }, object },
});

test('an event becomes a job with its fields in their JSON types, and the rule’s name in its id', () => {
  const object = { key: 'uploads/a "quoted" <name>.csv', size: 1_024, etag: 'b57f' };

  const message = messageOf(uploads, upload(object));

  expect(message).toMatchObject({
    kind: 'job',
    hasExplicitId: true,
    job: {
      version: 1,
      type: 'run-function',
      id: 'uploads.17793124-05d4-b198-2fde-7ededc63b103',
      packageId,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
      inputVariables: {
        key: 'uploads/a "quoted" <name>.csv',
        size: 1_024,
        all: { tags: ['b57f', 'fixed'], whole: object },
        limit: 5,
      },
      onUnknown: 'retry',
    },
  });
});

test('a rule without variables turns any event into a job, and two rules turn one event into two jobs', () => {
  const event = upload({ key: 'uploads/a.csv', size: 1, etag: 'b57f' });

  const ids = ['Eventsuploads', 'Eventsbare'].map((rule) => messageOf(rules.get(rule), event));

  expect(ids).toMatchObject([
    { job: { id: 'uploads.17793124-05d4-b198-2fde-7ededc63b103' } },
    { job: { id: 'bare.17793124-05d4-b198-2fde-7ededc63b103', functionName: 'f' } },
  ]);
});

test('any number of fields of an event may be optional, and constants may have any value', () => {
  const variables = {
    size: { $path: '$.detail.object.size', $default: null },
    owner: { $path: '$.detail.object.owner', $optional: true },
    many: Array.from({ length: 120 }, (_, index) => ({ $path: `$.detail.x${index}`, $default: index })),
    price: { $constant: '$5 "each"' },
  };
  const eventRules = [{ ...full.eventRules[0], inputVariables: variables }];

  const message = messageOf(rulesOf({ ...minimal, eventRules }).get('Eventsuploads'), upload({}));

  expect(message).toMatchObject({
    job: { inputVariables: { size: null, many: variables.many.keys().toArray(), price: '$5 "each"' } },
  });
});

test('an update deploys the function for code functions before the event rules that send it messages', () => {
  const deployed = resourcesOf(templateOf(full)).filter(([id]) => /^Events(uploads|bare)/.test(id));

  const before = deployed.map(([, resource]) => Reflect.get(resource, 'DependsOn'));

  const ofFunctions = [expect.stringMatching(/^JobsRunFunctionsFunction[0-9A-F]{8}$/)];
  expect(before).toEqual([ofFunctions, ofFunctions]);
});

test('a pattern with all match types and branches is deployed unchanged', () => {
  const pattern = {
    source: ['mine', { prefix: 'com.acme.' }],
    'detail.size': [{ numeric: ['>', 0, '<=', 5] }, { exists: false }],
    $or: [{ a: [{ suffix: { 'equals-ignore-case': '.PNG' } }] }, { b: [{ cidr: '10.0.0.0/24' }, null, 1.5] }],
  };
  const template = templateOf({ ...minimal, eventRules: [{ ...full.eventRules[1], pattern }] });

  const deployed = propertiesOf(template, 'AWS::Events::Rule').map(({ EventPattern }) => EventPattern);

  expect(deployed).toContainEqual(pattern);
});

test('a rule on a custom bus gets its events from there, and may send to the queues', () => {
  const [bare] = full.eventRules.slice(1);
  const eventRules = [
    bare,
    { ...bare, name: 'orders', bus: 'orders' },
    { ...bare, name: 'same', bus: 'default' },
  ];
  const template = templateOf({ ...minimal, eventRules });

  const buses = propertiesOf(template, 'AWS::Events::Rule').map(({ Name = '', EventBusName }) => [
    Name.replace(/^.*-/, ''),
    EventBusName,
  ]);
  expect(buses).toEqual(
    expect.arrayContaining([
      ['bare', undefined],
      ['orders', 'orders'],
      ['same', undefined],
    ]),
  );
  const sources = propertiesOf(template, 'AWS::SQS::QueuePolicy').flatMap((properties) => {
    const named = JSON.stringify(properties).match(/:rule\/(?:orders\/)?/g);
    return named === null ? [] : [named];
  });
  expect(sources).toHaveLength(2);
  for (const each of sources) expect(each).toEqual([':rule/', ':rule/orders/']);
});
