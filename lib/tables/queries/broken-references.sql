-- Calculations that do not work: one row for each of their links that is not valid, or one row without a link if no
-- link is to blame. From the latest run.
SELECT c.id, c.name, c.owner, c.status, c.archived, l.resource.type AS kind, l.resource.id AS target, l.valid AS validity
FROM calculations AS c
LEFT JOIN UNNEST(filter(c.links, link -> upper(link.valid) <> 'VALID')) AS l (resource, visible, active, valid) ON TRUE
WHERE upper(c.status) <> 'VALID' OR l.valid IS NOT NULL
ORDER BY name, id, kind, target
