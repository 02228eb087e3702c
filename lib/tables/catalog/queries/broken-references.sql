-- Broken calculations, with a column for each reason: one of their links is not valid, their own status is not valid, or
-- they use something that the snapshots do not contain. One row for each link to blame. From the latest runs.
SELECT
  c.calculation_id,
  c.name,
  c.owner_id,
  c.status,
  c.archived,
  c.broken_links,
  c.invalid,
  c.missing_target,
  u.relation,
  u.user_kind,
  u.user_id,
  u.used_kind,
  u.used_id,
  u.validity
FROM calculations AS c
LEFT JOIN uses AS u ON u.broken AND u.stater_kind = 'calculation' AND u.stater_id = c.calculation_id
WHERE c.broken_links OR c.invalid OR c.missing_target
ORDER BY c.name, c.calculation_id, u.used_kind, u.used_id, u.user_kind, u.user_id
