-- What each batch of texts has cost: calls that were paid for, texts that cost nothing since their score was known, calls
-- that may have been paid for twice, and tokens. Those with the latest jobs first, then those that were scored without.
SELECT
  batch,
  first_day,
  last_day,
  chunks,
  not_done,
  calls,
  cached,
  paid_again,
  input_tokens,
  output_tokens,
  total_tokens
FROM batches
ORDER BY last_day DESC NULLS LAST, batch
