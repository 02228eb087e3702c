-- What uses each dataset directly: its cards, and the calculations that are saved or used on it. For what depends on
-- these in turn, over any number of steps, use the command where-used. From the latest runs.
SELECT
  u.used_id AS dataset_id,
  u.user_kind,
  u.user_id,
  coalesce(c.name, d.title) AS name,
  coalesce(c.owner_id, d.owner_id) AS owner_id,
  u.relation,
  u.validity
FROM uses AS u
LEFT JOIN calculations AS c ON u.user_kind = 'calculation' AND c.calculation_id = u.user_id
LEFT JOIN (
  SELECT card_id, min(title) AS title, min(owner_id) AS owner_id FROM cards GROUP BY card_id
) AS d ON u.user_kind = 'card' AND d.card_id = u.user_id
WHERE u.used_kind = 'dataset'
ORDER BY u.used_id, u.user_kind, u.user_id
