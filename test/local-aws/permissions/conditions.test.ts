import { expect, test } from 'vitest';
import { type Condition, satisfies } from './conditions.ts';

const context = {
  'aws:SecureTransport': 'true',
  'aws:SourceArn': 'arn:aws:events:eu-west-1:000000000000:rule/bus/mine-a',
  's3:TlsVersion': '1.3',
  's3:prefix': 'work/a',
};

test.each<readonly [Condition, boolean]>([
  [{ StringEquals: { 's3:prefix': ['x', 'work/a'] } }, true],
  [{ StringEquals: { 's3:prefix': 'work/*' } }, false],
  [{ StringLike: { 's3:prefix': 'work/*' } }, true],
  [{ StringLike: { 's3:prefix': 'work/?' }, Bool: { 'aws:SecureTransport': 'false' } }, false],
  [{ StringNotLike: { 's3:prefix': 'work/*' } }, false],
  [{ StringNotEquals: { 's3:prefix': 'results/' } }, true],
  [{ ArnLike: { 'aws:SourceArn': 'arn:aws:events:*:000000000000:rule/bus/mine-*' } }, true],
  [{ ArnEquals: { 'aws:SourceArn': 'arn:aws:events:*:rule/bus/mine-a' } }, false],
  [{ NumericLessThan: { 's3:TlsVersion': 1.2 } }, false],
  [{ NumericGreaterThanEquals: { 's3:TlsVersion': '1.3' } }, true],
  [{ Null: { 'aws:SourceAccount': 'true', 'aws:SourceArn': 'false' } }, true],
  // A key that the request does not have is not equal to anything.
  [{ StringEquals: { 'aws:SourceAccount': '000000000000' } }, false],
  [{ StringEqualsIfExists: { 'aws:SourceAccount': '000000000000' } }, true],
  [{ StringNotEquals: { 'aws:SourceAccount': '000000000000' } }, true],
])('the policy condition %j holds: %s', (condition, holds) => {
  expect(satisfies(context, condition)).toBe(holds);
});

test.each<readonly [Condition, string]>([
  [{ IpAddress: { 'aws:SourceAccount': '1.2.3.4' } }, 'operator of conditions, got IpAddress'],
  [{ StringEquals: { 's3:prefx': 'work/' } }, 'key of conditions, got s3:prefx'],
])('a policy condition that the check cannot evaluate is an error: %j', (condition, message) => {
  expect(() => satisfies(context, condition)).toThrow(message);
});
