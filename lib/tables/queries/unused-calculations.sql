-- Calculations, not archived, that no card uses and no other calculation refers to, the least recently changed first. A
-- link that is broken or inactive still counts as a use: what it belongs to may be repaired. From the latest run.
WITH target AS (
  -- Each calculation once for itself, and once for each other calculation that it refers to: this reads them once.
  SELECT
    t.id,
    t.id = c.id AS is_itself,
    c.name,
    c.owner,
    c.lastmodified,
    c.created,
    coalesce(c.archived, false) AS archived,
    coalesce(any_match(c.links, link -> upper(link.resource.type) = 'CARD'), false) AS on_card
  FROM calculations AS c
  CROSS JOIN UNNEST(concat(
    ARRAY[c.id],
    coalesce(transform(
      filter(c.links, link -> upper(link.resource.type) = 'FUNCTION_TEMPLATE' AND link.resource.id <> c.id),
      link -> link.resource.id
    ), ARRAY[])
  )) AS t (id)
)
SELECT
  id,
  max(name) AS name,
  max(owner) AS owner,
  max(lastmodified) AS lastmodified,
  max(created) AS created
FROM target
GROUP BY id
HAVING bool_and(is_itself) AND NOT bool_or(archived) AND NOT bool_or(on_card)
ORDER BY lastmodified, id
