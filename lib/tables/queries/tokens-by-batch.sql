-- What each batch of texts has cost: calls that were paid for, texts that cost nothing since the cache had them, calls
-- that may have been paid for twice, and tokens, as the jobs of its chunks report them. The newest first.
WITH chunk AS (
  SELECT json_extract_scalar(response, '$.batch') AS batch, dt, status, response
  FROM jobs
  WHERE type = 'score'
)
SELECT
  batch,
  min(dt) AS first_day,
  max(dt) AS last_day,
  count(*) AS chunks,
  count(*) FILTER (WHERE status <> 'done') AS not_done,
  sum(TRY_CAST(json_extract_scalar(response, '$.calls') AS bigint)) AS calls,
  sum(TRY_CAST(json_extract_scalar(response, '$.cached') AS bigint)) AS cached,
  sum(TRY_CAST(json_extract_scalar(response, '$.paidAgain') AS bigint)) AS paid_again,
  sum(TRY_CAST(json_extract_scalar(response, '$.tokens.input') AS bigint)) AS input_tokens,
  sum(TRY_CAST(json_extract_scalar(response, '$.tokens.output') AS bigint)) AS output_tokens,
  sum(TRY_CAST(json_extract_scalar(response, '$.tokens.total') AS bigint)) AS total_tokens
FROM chunk
WHERE batch IS NOT NULL
GROUP BY batch
ORDER BY last_day DESC, batch
