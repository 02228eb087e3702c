-- Jobs that failed or whose outcome is unknown, by day for the last 30 days: how many, by type and kind of error, and
-- the id of one of them.
SELECT
  dt,
  type,
  status,
  json_extract_scalar(error, '$.kind') AS kind,
  count(*) AS jobs,
  min(id) AS example
FROM jobs
WHERE status IN ('failed', 'unknown') AND dt >= CAST(CAST(current_date - INTERVAL '30' DAY AS date) AS varchar)
GROUP BY dt, type, status, json_extract_scalar(error, '$.kind')
ORDER BY dt DESC, type, status, kind
