-- What code functions returned, a row for each job, the newest first. `result` is the output if it is a single value, and
-- `response` the whole execution as the platform returned it.
SELECT
  job_id,
  status,
  json_extract_scalar(response, '$.result') AS result,
  error_kind,
  error_message,
  attempts,
  finished_at,
  response
FROM jobs
WHERE type = 'run-function'
ORDER BY finished_at DESC, job_id
