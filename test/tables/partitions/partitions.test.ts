import { expect, test } from 'vitest';
import { PartitionsError } from '../../../lib/tables/partitions/partitions.ts';

test('the error of tables that cannot be reached names the settings that are missing', () => {
  const failure = {
    kind: 'unconfigured',
    code: 'CredentialsProviderError',
    expected: 'AWS_PROFILE',
  } as const;

  const error = new PartitionsError('add the partition', failure, { cause: undefined });

  expect(error.message).toBe('add the partition: expected AWS_PROFILE, got none');
});
