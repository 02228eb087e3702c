-- What each batch of texts has cost: calls that were paid for, texts that cost nothing since their score was known, calls
-- that may have been paid for twice, and tokens. Batches with the latest jobs first, batches scored without jobs last.
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
