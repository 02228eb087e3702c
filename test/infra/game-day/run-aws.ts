import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from '../../docs/run-line.ts';

/** SDK packages whose name differs from the service's name on the command line. */
const PACKAGES: Readonly<Record<string, string>> = { secretsmanager: 'secrets-manager' };

/** A structure schema of the SDK, with the names of its members (index 4) and their types (index 5). */
type Structure = readonly [unknown, unknown, unknown, unknown, readonly string[], readonly unknown[]];
const LIST = 64;

/** Returns the response of an operation to its input; undefined for an operation of a local service. */
export type StandIn = (
  operation: string,
  input: Readonly<Record<string, unknown>>,
) => Promise<object | undefined>;

/**
 * Runs a command of the AWS CLI through the SDK, with its options as the operation's input. Unknown operations and
 * options are rejected. Returns the response, from a stand-in if no local service has the operation. Of `s3`, which is
 * not an API, it supports `ls` and `rm` of one object.
 */
export async function runAws(
  [, service = '', ...words]: readonly string[],
  place: Place,
  standIn?: StandIn,
): Promise<string> {
  const [operation = '', ...options] = service === 's3' ? ofObjects(words) : words;
  const sdk = await import(`@aws-sdk/client-${PACKAGES[service] ?? service}`);
  const Client = sdk[Object.keys(sdk).find((name) => name.toLowerCase() === `${service}client`) ?? ''];
  const Command = sdk[`${pascal(operation)}Command`];
  if (Command === undefined) throw new Error(`expected an operation of ${service}, got ${operation}`);
  const structure = sdk[`${pascal(operation)}Request$`] ?? sdk[`${pascal(operation)}Input$`];
  const input = await inputOf(options, structure, place.folder);
  const instead = await standIn?.(operation, input);
  if (instead !== undefined) return JSON.stringify(instead);
  const { AWS_ENDPOINT_URL: endpoint, AWS_REGION: region, ...keys } = place.environment;
  const credentials = {
    accessKeyId: keys['AWS_ACCESS_KEY_ID'],
    secretAccessKey: keys['AWS_SECRET_ACCESS_KEY'],
  };
  const client = new Client({ endpoint, region, credentials, forcePathStyle: true });
  const { $metadata: _, ...responded } = await client.send(new Command(input));
  client.destroy();
  return JSON.stringify(responded);
}

function ofObjects(words: readonly string[]): readonly string[] {
  const [, command, bucket = '', key = ''] =
    /^(ls --recursive|rm) s3:\/\/([^/]+)\/(.*)$/.exec(words.join(' ')) ?? [];
  if (command === undefined) throw new Error(`expected ls or rm of s3://BUCKET/KEY, got ${words.join(' ')}`);
  return command === 'rm'
    ? ['delete-object', '--bucket', bucket, '--key', key]
    : ['list-objects-v2', '--bucket', bucket, '--prefix', key];
}

const pascal = (name: string) => name.replaceAll(/(?:^|-)([a-z])/g, (_, letter) => letter.toUpperCase());

async function inputOf(
  words: readonly string[],
  structure: Structure,
  folder: string,
): Promise<Readonly<Record<string, unknown>>> {
  const [, , , , members, types] = structure;
  const options = words.join('\n').split(/^--/m).slice(1);
  const pairs = options.map(async (option) => {
    const [name = '', ...values] = option.trim().split('\n');
    const [type] = [types[members.indexOf(pascal(name))]].flat();
    if (type === undefined) throw new Error(`expected one of ${members}, got --${name}`);
    const [value = 'true'] = values;
    if (value.startsWith('file://'))
      return [pascal(name), await readFile(join(folder, value.slice(7)), 'utf8')];
    if (type === LIST) return [pascal(name), values];
    return [
      pascal(name),
      /^(\d+|true)$/.test(value) || (typeof type === 'function' && value.startsWith('{'))
        ? JSON.parse(value)
        : value,
    ];
  });
  return Object.fromEntries(await Promise.all(pairs));
}
