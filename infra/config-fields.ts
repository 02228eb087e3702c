import { Token } from 'aws-cdk-lib';
import * as z from 'zod/mini';

/*
 * The types of the configuration's fields. The message of an error says what was expected. A CDK token is a
 * placeholder for a value that is known only at deployment. It is allowed where AWS allows it, and only literal values are
 * checked.
 */

/**
 * Whether a value, or a part of it, is known only at deployment. CDK shows a list that is known only at deployment as a
 * list of one placeholder: this returns true for the placeholder too.
 */
export const isToken = (value: unknown): boolean => Token.isUnresolved(value) || Token.isUnresolved([value]);

/** Allows CDK tokens in a field whose schema would refuse them. */
export const orToken = <T extends z.core.$ZodType>(field: T, error: string) =>
  z.union([field, z.custom<z.output<T>>(isToken)], { error });

/** Refuses CDK tokens, because the template is computed from the value. */
export const atSynth = <T extends z.ZodMiniType>(field: T): T =>
  field.check(z.refine((value) => !isToken(value), { error: 'a value that is known at synth' }));

/** A string that matches a pattern; or a CDK token. `error` is what was expected. */
export const text = (error: string, pattern: RegExp) =>
  z.string({ error }).check(z.refine((value) => isToken(value) || pattern.test(value), { error }));

/** A string that is not blank; or a CDK token. */
export const nonBlank = (error: string) => text(error, /\S/);

/** A number from `min` to `max`; or a CDK token. */
export function number(min: number, max: number) {
  const error = `a number from ${min} to ${max}`;
  const isValid = (value: number) => isToken(value) || (value >= min && value <= max);
  return z.number({ error }).check(z.refine(isValid, { error }));
}

/** A whole number from `min` to `max`; or a CDK token. */
export function integer(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`;
  const isValid = (value: number) =>
    isToken(value) || (Number.isInteger(value) && value >= min && value <= max);
  return z.number({ error }).check(z.refine(isValid, { error }));
}

const FIXED_ADDRESS = 'true, false, or the allocation id of an address, such as eipalloc-0a1b2c3d4e5f60718';

/** Whether an instance has a fixed address, or which one. */
export const fixedAddress = z.union([z.boolean(), text(FIXED_ADDRESS, /^eipalloc-[0-9a-f]{8,17}$/)], {
  error: FIXED_ADDRESS,
});

/** A UUID; `of` is what it identifies, such as `a package`. */
export const uuid = (of: string) => text(`the UUID of ${of}`, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);

/** The name of a resource within its stack. */
export const name = text(
  'a name: a lower-case letter, then up to 40 lower-case letters, digits or -',
  /^[a-z][a-z0-9-]{0,40}$/,
);

export const region = text('an AWS region', /^[a-z]{2}(-[a-z]+)+-\d$/);

export const awsAccount = text('an AWS account: a string of 12 digits', /^\d{12}$/);

/** An origin over https. A slash at the end is allowed. */
export const origin = z.string({ error: 'the origin of the platform’s instance' }).check(
  z.refine((value) => isToken(value) || (URL.canParse(value) && isBare(value)), {
    error: 'an origin over https, such as https://acme.example.com, without path, query or user',
  }),
);

function isBare(value: string): boolean {
  const { origin: bare, protocol } = new URL(value);
  return protocol === 'https:' && [bare, `${bare}/`].includes(value.toLowerCase());
}

/** The ARN of a secret, with the six characters that AWS adds; without them, a policy would need a wildcard. */
export const secretArn = text(
  'the whole ARN of a secret, with the six characters that AWS adds at the end',
  /^arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-[A-Za-z0-9]{6}$/,
);

const PARAMETER =
  'the name of a parameter, such as /acme/token, that does not begin with aws or ssm; or its ARN';

/** Matches one part of letters, digits and . - _, or up to 15 such parts, each after a slash. */
const PARAMETER_NAME = /^(?!\/?(?:aws|ssm))(?:[\w.-]+|(?:\/[\w.-]+){1,15})$/i;
const PARAMETER_ARN = /^arn:aws[a-z-]*:ssm:[a-z0-9-]+:\d{12}:parameter(?=\/)(.+)$/;

/** A parameter of the Parameter Store, without version and label. AWS takes at most 1,011 characters with its ARN. */
export const parameter = z.string({ error: PARAMETER }).check(
  z.refine(
    (value) => {
      if (isToken(value)) return true;
      const inArn = PARAMETER_ARN.exec(value)?.[1];
      return PARAMETER_NAME.test(inArn ?? value) && value.length <= (inArn === undefined ? 900 : 1_011);
    },
    { error: PARAMETER },
  ),
);

export const keyArn = text('the ARN of a KMS key', /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/);

export const bucketName = text(
  'the name of a bucket: 3 to 63 lower-case letters, digits, dots and -',
  /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
);

export const tableName = text('the name of a table', /^[\w.-]{3,255}$/);

/** Folders of a bucket, without the wildcard characters of IAM policies and event patterns. */
export const folders = text(
  "folders of letters, digits and !-_.'()",
  /^\/*(?!\.{1,2}(?:\/|$))[\w!\-.'()]+(?:\/(?!\.{1,2}(?:\/|$))[\w!\-.'()]+)*\/*$/,
);

/** The value of SYNC_ENCRYPTION. A key is named by its ARN, which roles need; only the ARN may be a CDK token. */
export const encryption = text(
  'AES256, aws:kms, or aws:kms: with the ARN of a key',
  /^(AES256|aws:kms(:arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+)?)$/,
).check(
  z.refine((value) => !isToken(value) || value.startsWith('aws:kms:'), {
    error: 'a value that is known at synth',
  }),
);

/** The address of a proxy, without a user, since passwords do not belong in a template. */
export const proxyUrl = atSynth(
  text(
    'the address of a proxy, such as http://proxy.example.com:3128, without user and path',
    /^https?:\/\/[\w.-]+(:\d{1,5})?\/?$/,
  ),
);

/** The id of a network resource, such as `vpc-0a1b2c3d4e5f60718`. */
export const networkId = (kind: 'vpc' | 'subnet' | 'sg') =>
  text(`an id such as ${kind}-0a1b2c3d4e5f60718`, new RegExp(`^${kind}-[0-9a-f]{8,17}$`));

/** A reader outside the account. */
export const reader = text(
  'an AWS account (a string of 12 digits) or the ARN of a role',
  /^(\d{12}|arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+)$/,
);

export const topicArn = text('the ARN of an SNS topic', /^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[\w-]+$/);

export const email = text(
  'an e-mail address of at most 320 characters',
  /^(?=.{1,320}$)[^\s@]+@[^\s@]+\.[^\s@]+$/,
);
