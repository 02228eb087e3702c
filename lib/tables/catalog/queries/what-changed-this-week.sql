-- What was added, removed or changed in the last seven days, in all places, with the fields that differ: one row for
-- each change that a run found since the run before. Fields that differ in each run, such as download URLs, are not
-- counted, and neither is the order of a list in which order has no meaning.
SELECT
  place,
  dt,
  change,
  key,
  coalesce(
    json_extract_scalar(coalesce(after, before), '$.path'),
    json_extract_scalar(coalesce(after, before), '$.name'),
    json_extract_scalar(coalesce(after, before), '$.title')
  ) AS name,
  array_join(fields, ', ') AS fields
FROM changes
WHERE dt >= CAST(CAST(current_date - INTERVAL '7' DAY AS date) AS varchar)
ORDER BY place, dt, change, key
