import { expect, test } from 'vitest';
import { parseMessage } from '../../lib/jobs/message/message.ts';
import { full, least, packageId, resourcesOf, templateOf } from './instances.ts';

type Transformer = {
  readonly InputPathsMap: Readonly<Record<string, string>>;
  readonly InputTemplate: string;
};

type Rule = {
  readonly EventPattern: object;
  readonly Targets: readonly { readonly Arn: unknown; readonly InputTransformer?: Transformer }[];
};

const rules = new Map(
  resourcesOf(templateOf(full)).flatMap(([id, { Type, Properties }]) =>
    Type === 'AWS::Events::Rule' ? [[id.replace(/[0-9A-F]{8}$/, ''), Properties as unknown as Rule]] : [],
  ),
);

const uploads = rules.get('Eventsuploads');

/**
 * What EventBridge makes of an event: a variable becomes the JSON of its field, within quotes the text of the field,
 * and nothing if the event lacks the field.
 */
function transform({ InputPathsMap, InputTemplate }: Transformer, event: object): string {
  const fields = new Map(
    Object.entries(InputPathsMap).map(([name, path]) => [name, fieldAt(event, path)] as const),
  );
  return InputTemplate.replaceAll(/<([^<>]+)>/g, (_, name: string) => {
    const field = fields.get(name);
    return field === undefined ? '' : JSON.stringify(field);
  });
}

const fieldAt = (event: object, path: string): unknown =>
  [...path.matchAll(/\.([\w-]+)|\[(\d+)\]/g)].reduce<unknown>(
    (at, [, name, index]) => (at as Record<string, unknown> | undefined)?.[name ?? index ?? ''],
    event,
  );

const upload = (object: object) => ({
  version: '0',
  id: '17793124-05d4-b198-2fde-7ededc63b103',
  'detail-type': 'Object Created',
  source: 'aws.s3',
  detail: { bucket: { name: 'uploads' }, object },
});

function messageOf(event: object) {
  const transformer = uploads?.Targets[0]?.InputTransformer;
  if (transformer === undefined) throw new Error('expected an input transformer');
  return parseMessage(transform(transformer, event), { messageId: 'of-sqs', allow: {} });
}

test('an event becomes a job, with its fields in their JSON types and its id as the job’s', () => {
  const object = { key: 'uploads/a "quoted" name.csv', size: 1_024, etag: 'b57f' };

  const message = messageOf(upload(object));

  expect(message).toMatchObject({
    kind: 'job',
    job: {
      version: 1,
      type: 'run-function',
      id: '17793124-05d4-b198-2fde-7ededc63b103',
      packageId,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
      inputVariables: {
        key: 'uploads/a "quoted" name.csv',
        size: 1_024,
        all: { tags: ['b57f', 'fixed'], whole: object },
        limit: 5,
      },
      onUnknown: 'retry',
    },
  });
});

test('an event that lacks a field is refused visibly', () => {
  expect(messageOf(upload({ key: 'uploads/a.csv', etag: 'b57f' }))).toMatchObject({ kind: 'refused' });
});

test('the pattern is the one in the configuration', () => {
  expect(uploads?.EventPattern).toEqual(full.eventRules[0]?.pattern);
});

test('a pattern with all match types and branches is deployed unchanged', () => {
  const pattern = {
    source: ['mine', { 'anything-but': { prefix: ['aws.'] } }],
    'detail.size': [{ numeric: ['>', 0, '<=', 5] }, { exists: false }],
    $or: [{ a: [{ suffix: { 'equals-ignore-case': '.PNG' } }] }, { b: [{ cidr: '10.0.0.0/24' }, null, 1.5] }],
  };
  const template = templateOf({ ...least, eventRules: [{ ...full.eventRules[1], pattern }] });

  const deployed = resourcesOf(template).filter(([, { Type }]) => Type === 'AWS::Events::Rule');

  expect(deployed.map(([, { Properties }]) => Properties['EventPattern'])).toContainEqual(pattern);
});

test('jobs of rules go to the queue of code functions', () => {
  expect(uploads?.Targets[0]?.Arn).toEqual({
    'Fn::GetAtt': [expect.stringMatching(/^JobsFunctionsQueue/), 'Arn'],
  });
});
