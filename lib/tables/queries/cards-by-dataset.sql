-- Datasets with the number of cards that use them, including cards that only a drill path shows, and the number of
-- calculations based on them: what a change to the dataset can break. From the latest runs of cards and calculations. A
-- card names the dataset that it was listed for only if that is not its own.
WITH card AS (
  SELECT
    coalesce(_datasetid, datasourceid) AS dataset,
    count(*) AS cards,
    count(*) FILTER (WHERE urn LIKE 'dr:%') AS in_drills,
    count(*) FILTER (WHERE access = false) AS without_access,
    count(DISTINCT ownerid) AS owners
  FROM cards
  GROUP BY coalesce(_datasetid, datasourceid)
),
calculation AS (
  SELECT l.resource.id AS dataset, count(DISTINCT c.id) AS calculations
  FROM calculations AS c
  CROSS JOIN UNNEST(filter(c.links, link -> upper(link.resource.type) = 'DATA_SOURCE'))
    AS l (resource, visible, active, valid)
  GROUP BY l.resource.id
)
SELECT
  card.dataset,
  card.cards,
  card.in_drills,
  card.without_access,
  card.owners,
  coalesce(calculation.calculations, 0) AS calculations
FROM card
LEFT JOIN calculation ON calculation.dataset = card.dataset
ORDER BY card.cards DESC, card.dataset
