/**
 * Which messages of a batch a handler's result reports as failed, by Lambda's rules for ReportBatchItemFailures: none if
 * there is no result, no list or an empty one; all if an entry names no message of the batch, or the result is not an
 * object.
 * Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export function failedMessageIds(result: unknown, ids: ReadonlySet<string>): ReadonlySet<string> {
  if (result === null || result === undefined) return NONE;
  if (typeof result !== 'object') return ids;
  const { batchItemFailures } = result as { readonly batchItemFailures?: unknown };
  if (batchItemFailures === null || batchItemFailures === undefined) return NONE;
  if (!Array.isArray(batchItemFailures)) return ids;
  const named: readonly unknown[] = batchItemFailures.map((failure) => failure?.itemIdentifier);
  const failed = named.filter((id): id is string => typeof id === 'string' && ids.has(id));
  return failed.length === named.length ? new Set(failed) : ids;
}

const NONE: ReadonlySet<string> = new Set();
