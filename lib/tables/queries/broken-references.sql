-- Calculations that do not work: one row for each of their links that is not valid, or one row without a link if no
-- link is to blame. From the latest run.
WITH link AS (
  SELECT c.id AS calculation, l.resource.type AS kind, l.resource.id AS target, l.valid AS validity
  FROM latest_calculations AS c
  CROSS JOIN UNNEST(c.links) AS l (resource, visible, active, valid)
  WHERE upper(l.valid) <> 'VALID'
)
SELECT c.id, c.name, c.owner, c.status, c.archived, link.kind, link.target, link.validity
FROM latest_calculations AS c
LEFT JOIN link ON link.calculation = c.id
WHERE upper(c.status) <> 'VALID' OR link.calculation IS NOT NULL
ORDER BY c.name, c.id, link.kind, link.target
