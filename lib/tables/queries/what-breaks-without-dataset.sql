-- What breaks if a dataset goes: its cards, the calculations based on it, and the calculations that refer to one of
-- those. All datasets at once: add WHERE dataset = '…' before ORDER BY for one of them. From the latest runs.
WITH link AS (
  SELECT c.id, c.name, c.owner, upper(l.resource.type) AS kind, l.resource.id AS target
  FROM calculations AS c
  CROSS JOIN UNNEST(filter(c.links, link -> upper(link.resource.type) IN ('DATA_SOURCE', 'FUNCTION_TEMPLATE')))
    AS l (resource, visible, active, valid)
),
based AS (
  SELECT DISTINCT target AS dataset, id, name, owner FROM link WHERE kind = 'DATA_SOURCE'
),
dependent AS (
  SELECT
    coalesce(_datasetid, datasourceid) AS dataset,
    'card' AS kind,
    id,
    title AS name,
    ownerid AS owner,
    CAST(NULL AS varchar) AS through
  FROM cards
  UNION ALL
  SELECT dataset, 'calculation', id, name, owner, CAST(NULL AS varchar) FROM based
  UNION ALL
  SELECT DISTINCT based.dataset, 'calculation', link.id, link.name, link.owner, based.id
  FROM link
  JOIN based ON link.kind = 'FUNCTION_TEMPLATE' AND link.target = based.id AND link.id <> based.id
)
SELECT dataset, kind, id, name, owner, through
FROM dependent
ORDER BY dataset, kind, id, through
