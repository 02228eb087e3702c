-- How often each sentiment occurs for each topic, by the week in which the job of the texts began (its Monday; none for
-- texts that were scored without a job). Texts that were scored as a whole have no topic.
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
  SELECT s.batch, s.chunk, t.topic, lower(coalesce(json_extract_scalar(t.value, '$'), s.sentiment)) AS sentiment
  FROM scores AS s
  LEFT JOIN UNNEST(map_entries(try(CAST(json_parse(s.topicsentiments) AS map(varchar, json)))))
    AS t (topic, value) ON TRUE
  WHERE s.error IS NULL
)
SELECT week.monday AS week, scored.topic, scored.sentiment, count(*) AS texts
FROM scored
LEFT JOIN week ON week.batch = scored.batch AND week.chunk = scored.chunk
WHERE scored.sentiment IS NOT NULL
GROUP BY week.monday, scored.topic, scored.sentiment
ORDER BY week DESC, topic, texts DESC, sentiment
