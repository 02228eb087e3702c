-- What to clean up, by owner: calculations and cards that are broken, affected or unused, with what is
-- wrong with each, the oldest first. From the latest runs.
SELECT
  coalesce(o.name, t.owner_id) AS owner,
  t.owner_id,
  t.kind,
  t.id,
  t.name,
  t.broken_links,
  t.invalid,
  t.missing_target,
  t.affected,
  t.unused,
  t.archived,
  t.locked,
  t.modified_at
FROM (
  SELECT 'calculation' AS kind, calculation_id AS id, name, owner_id, broken_links, invalid, missing_target, affected,
    unused, archived, locked, modified_at
  FROM calculations
  UNION ALL
  SELECT DISTINCT 'card', card_id, title, owner_id, CAST(NULL AS boolean), CAST(NULL AS boolean), missing_target, affected,
    CAST(NULL AS boolean), CAST(NULL AS boolean), CAST(NULL AS boolean), CAST(NULL AS timestamp)
  FROM cards
) AS t
LEFT JOIN owners AS o ON o.user_id = t.owner_id
WHERE t.broken_links OR t.invalid OR t.missing_target OR t.affected OR t.unused
ORDER BY owner, t.owner_id, t.kind, t.modified_at, t.id
