-- Calculations, not archived, that have not changed for 90 days, the longest untouched first. From the latest run.
SELECT
  id,
  name,
  owner,
  status,
  coalesce(lastmodified_at, created_at) AS touched_at,
  date_diff('day', CAST(coalesce(lastmodified_at, created_at) AS date), current_date) AS days
FROM calculations
WHERE coalesce(archived, false) = false AND coalesce(lastmodified_at, created_at) < current_date - INTERVAL '90' DAY
ORDER BY touched_at, id
