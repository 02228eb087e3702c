import { ACCOUNT, REGION } from '../identity.ts';
import type { Resource, Template } from './template.ts';

export type TemplateValuesOptions = {
  /** The server of the queues: `http://HOST:PORT`. */
  readonly endpoint: string;
  /** Texts to replace, such as the platform's origin, and their replacements. */
  readonly texts?: Readonly<Record<string, string>>;
};

/**
 * Resolves a value in a template as a deployment would: every reference becomes the name, URL or ARN of the resource in
 * the local AWS. Throws for anything unknown, so that nothing stays unresolved.
 */
export type Resolve = (value: unknown) => unknown;

/** Resolves the values of one template. */
export function templateValues(template: Template, { endpoint, texts = {} }: TemplateValuesOptions): Resolve {
  const resolveAll = (value: unknown): unknown => {
    if (typeof value === 'string') return withTexts(value, texts);
    if (Array.isArray(value)) return value.map(resolveAll);
    if (typeof value !== 'object' || value === null) return value;
    const [name = '', ...others] = Object.keys(value);
    const given = (value as Record<string, unknown>)[name];
    if (others.length === 0 && name === 'Ref') return ref(String(given));
    if (others.length === 0 && name.startsWith('Fn::')) return call(name, given);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolveAll(each)]));
  };

  const call = (name: string, given: unknown): unknown => {
    switch (name) {
      case 'Fn::GetAtt':
        return attribute(given as readonly [string, string]);
      case 'Fn::Join': {
        const [separator, list] = given as readonly [string, readonly unknown[]];
        return list.map(resolveAll).join(separator);
      }
      case 'Fn::Sub':
        return String(given).replaceAll(/\$\{([^!}][^}]*)\}/g, (_, of: string) => {
          const [id = '', ...path] = of.split('.');
          return String(path.length === 0 ? ref(id) : attribute([id, path.join('.')]));
        });
      default:
        throw new Error(`${name}: expected Ref, Fn::GetAtt, Fn::Join or Fn::Sub`);
    }
  };

  const ref = (id: string): string => {
    const resource = template.Resources[id];
    if (resource === undefined) return known(PSEUDO[id], `Ref ${id}`);
    return known(placesOf(id, resource, endpoint, ref)?.ref, `Ref ${id} of ${resource.Type}`);
  };
  const attribute = ([id, name]: readonly [string, string]): string => {
    const resource = template.Resources[id];
    const what = `Fn::GetAtt ${id}.${name}`;
    if (resource === undefined) return known(undefined, what);
    return known(placesOf(id, resource, endpoint, ref)?.attributes[name], `${what} of ${resource.Type}`);
  };
  return resolveAll;
}

/** Returns a resolved value. Throws if a reference is to something that does not exist or is unknown here. */
function known(value: string | undefined, what: string): string {
  if (value === undefined) throw new Error(`${what}: expected something that exists`);
  return value;
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Region': REGION,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

type Places = { readonly ref: string; readonly attributes: Readonly<Record<string, string>> };

/** The names of a resource. They are derived from its logical id, as in CloudFormation. */
function placesOf(
  id: string,
  { Type, Properties }: Resource,
  endpoint: string,
  refOf: (id: string) => string,
): Places | undefined {
  const here = (service: string, place: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${place}`;
  const named = (name: string, Arn: string) => ({ ref: name, attributes: { Arn } });
  switch (Type) {
    case 'AWS::S3::Bucket':
      return named(id.toLowerCase(), `arn:aws:s3:::${id.toLowerCase()}`);
    case 'AWS::SNS::Topic':
      return { ref: here('sns', id), attributes: { TopicName: id } };
    case 'AWS::DynamoDB::Table':
      return named(id, here('dynamodb', `table/${id}`));
    case 'AWS::SQS::Queue':
      return {
        ref: `${endpoint}/${ACCOUNT}/${id}`,
        attributes: { Arn: here('sqs', id), QueueName: id },
      };
    case 'AWS::Lambda::Function':
      return named(id, here('lambda', `function:${id}`));
    case 'AWS::Lambda::Version':
      return {
        ref: here('lambda', `function:${refOf(refIn(Properties['FunctionName']))}:1`),
        attributes: { Version: '1' },
      };
    case 'AWS::Lambda::Alias':
      return {
        ref: here('lambda', `function:${refOf(refIn(Properties['FunctionName']))}:${Properties['Name']}`),
        attributes: {},
      };
    case 'AWS::SecretsManager::Secret':
      return { ref: here('secretsmanager', `secret:${id}-AbCdEf`), attributes: {} };
    case 'AWS::Glue::Database':
      return { ref: (Properties['DatabaseInput'] as { readonly Name: string }).Name, attributes: {} };
    case 'AWS::KMS::Key':
      return named(id, here('kms', `key/${id}`));
    case 'AWS::IAM::ManagedPolicy':
      return { ref: `arn:aws:iam::${ACCOUNT}:policy/${id}`, attributes: {} };
    case 'AWS::Scheduler::ScheduleGroup': {
      const name = String(Properties['Name'] ?? id);
      return named(name, here('scheduler', `schedule-group/${name}`));
    }
    case 'AWS::IAM::Role':
      return named(id, `arn:aws:iam::${ACCOUNT}:role/${id}`);
    case 'AWS::CloudWatch::Alarm':
      return named(id, here('cloudwatch', `alarm:${id}`));
    case 'AWS::Logs::LogGroup':
      return named(id, here('logs', `log-group:${id}:*`));
    case 'AWS::Events::Rule': {
      const name = String(Properties['Name'] ?? id);
      const bus = Properties['EventBusName'];
      return named(name, here('events', `rule/${bus === undefined ? '' : `${bus}/`}${name}`));
    }
    default:
      return undefined;
  }
}

const refIn = (value: unknown): string => (value as { readonly Ref: string }).Ref;

const withTexts = (value: string, texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts).reduce((text, [from, to]) => text.replaceAll(from, to), value);
