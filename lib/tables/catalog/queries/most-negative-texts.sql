-- The 100 most negative texts: those with the most negative topics and, among equals, the fewest positive topics. A text
-- that was scored as a whole counts as one topic. `columns` and `id` come from your file.
WITH topic AS (
  SELECT
    s.batch,
    s.line,
    s.id,
    s.columns,
    s.texthash,
    t.topic,
    lower(coalesce(json_extract_scalar(t.value, '$'), s.sentiment)) AS sentiment
  FROM scores AS s
  LEFT JOIN UNNEST(map_entries(try(CAST(json_parse(s.topicsentiments) AS map(varchar, json)))))
    AS t (topic, value) ON TRUE
  WHERE s.error IS NULL
)
SELECT
  batch,
  line,
  id,
  arbitrary(columns) AS columns,
  count(*) FILTER (WHERE sentiment LIKE '%negative%') AS negative,
  count(*) FILTER (WHERE sentiment LIKE '%positive%') AS positive,
  array_join(
    array_sort(array_agg(topic) FILTER (WHERE topic IS NOT NULL AND sentiment LIKE '%negative%')),
    ', '
  ) AS negative_topics
FROM topic
GROUP BY batch, line, id, texthash
HAVING count(*) FILTER (WHERE sentiment LIKE '%negative%') > 0
ORDER BY negative DESC, positive, batch, line
LIMIT 100
