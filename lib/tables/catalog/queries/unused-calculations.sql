-- Calculations, including archived ones, that nothing else uses, the least recently changed first. A link that is
-- broken or inactive still counts as a use, since it may be repaired. From the latest runs.
SELECT calculation_id, name, owner_id, archived, modified_at, created_at
FROM calculations
WHERE unused
ORDER BY modified_at, calculation_id
