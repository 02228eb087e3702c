-- How many times each sentiment occurs for each topic, by week (its Monday). It is the week of the date in the text's
-- columns (`--columns`); otherwise of the start of its job; otherwise of the start of a batch that `score` named
-- itself. Texts without any of these have no week. Texts that were scored as a whole have no topic.
WITH job AS (
  SELECT batch, chunk, max(dt) AS dt
  FROM jobs
  WHERE type = 'score'
  GROUP BY batch, chunk
),
dated AS (
  SELECT
    t.topic,
    t.sentiment,
    t.day,
    job.dt,
    regexp_extract(t.batch, '-([0-9]{8})T[0-9]{6}Z$', 1) AS named
  FROM score_topics AS t
  LEFT JOIN job ON job.batch = t.batch AND job.chunk = t.chunk
  WHERE t.sentiment IS NOT NULL
)
SELECT
  CAST(date_trunc('week', TRY_CAST(coalesce(
    day, dt, substr(named, 1, 4) || '-' || substr(named, 5, 2) || '-' || substr(named, 7, 2)
  ) AS date)) AS date) AS week,
  topic,
  sentiment,
  count(*) AS texts
FROM dated
GROUP BY 1, 2, 3
ORDER BY week DESC NULLS LAST, topic, texts DESC, sentiment
