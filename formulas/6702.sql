-- platform-sync formula 6702
-- name: Cohort
CASE WHEN NOT `Region` LIKE 'Z%' AND `Region` IS NOT NULL THEN `Region` ELSE '—' END
