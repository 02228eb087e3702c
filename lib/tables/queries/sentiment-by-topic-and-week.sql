-- How often each sentiment occurs for each topic, by the week (its Monday) in which the job of the texts began, or in
-- which `score` began a batch that it named itself. A batch that you named with --batch and that was scored without jobs
-- has no week: nothing says when that was. Texts that were scored as a whole have no topic.
WITH week AS (
  SELECT
    json_extract_scalar(response, '$.batch') AS batch,
    TRY_CAST(json_extract_scalar(response, '$.chunk') AS bigint) AS chunk,
    max(CAST(date_trunc('week', CAST(dt AS date)) AS date)) AS monday
  FROM jobs
  WHERE type = 'score'
  GROUP BY json_extract_scalar(response, '$.batch'), TRY_CAST(json_extract_scalar(response, '$.chunk') AS bigint)
),
scored AS (
  SELECT s.batch, s.chunk, regexp_extract(s.batch, '-([0-9]{8})T[0-9]{6}Z$', 1) AS day, t.topic, lower(coalesce(json_extract_scalar(t.value, '$'), s.sentiment)) AS sentiment
  FROM scores AS s
  LEFT JOIN UNNEST(map_entries(try(CAST(json_parse(s.topicsentiments) AS map(varchar, json)))))
    AS t (topic, value) ON TRUE
  WHERE s.error IS NULL
)
SELECT coalesce(week.monday, CAST(date_trunc('week', TRY_CAST(
    substr(day, 1, 4) || '-' || substr(day, 5, 2) || '-' || substr(day, 7, 2) AS date)) AS date)) AS week,
  scored.topic, scored.sentiment, count(*) AS texts
FROM scored
LEFT JOIN week ON week.batch = scored.batch AND week.chunk = scored.chunk
WHERE scored.sentiment IS NOT NULL
GROUP BY 1, 2, 3
ORDER BY week DESC, topic, texts DESC, sentiment
