-- Calculations, not archived, that no card uses and no other calculation refers to, the least recently changed first. A
-- link that is broken or inactive still counts as a use: what it belongs to may be repaired. From the latest run.
WITH link AS (
  SELECT c.id AS calculation, upper(l.resource.type) AS kind, l.resource.id AS target
  FROM latest_calculations AS c
  CROSS JOIN UNNEST(c.links) AS l (resource, visible, active, valid)
)
SELECT c.id, c.name, c.owner, c.lastmodified, c.created
FROM latest_calculations AS c
WHERE coalesce(c.archived, false) = false
  AND NOT EXISTS (SELECT 1 FROM link WHERE link.kind = 'CARD' AND link.calculation = c.id)
  AND NOT EXISTS (
    SELECT 1 FROM link
    WHERE link.kind = 'FUNCTION_TEMPLATE' AND link.target = c.id AND link.calculation <> c.id
  )
ORDER BY c.lastmodified, c.id
