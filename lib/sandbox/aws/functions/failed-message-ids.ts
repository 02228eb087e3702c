/**
 * Which messages of a batch a handler's answer fails, by Lambda's rules of ReportBatchItemFailures: none if there
 * is no answer, no list or an empty one; all if an entry names no message of the batch, or the answer is no object.
 * Source: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export const failedMessageIds = (answer: unknown, ids: ReadonlySet<string>): ReadonlySet<string> => {
  if (answer === null || answer === undefined) return none;
  if (typeof answer !== 'object') return ids;
  const { batchItemFailures } = answer as { readonly batchItemFailures?: unknown };
  if (batchItemFailures === null || batchItemFailures === undefined) return none;
  if (!Array.isArray(batchItemFailures)) return ids;
  const named: readonly unknown[] = batchItemFailures.map((failure) => failure?.itemIdentifier);
  const failed = named.filter((id): id is string => typeof id === 'string' && ids.has(id));
  return failed.length === named.length ? new Set(failed) : ids;
};

const none: ReadonlySet<string> = new Set();
