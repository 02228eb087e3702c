-- platform-sync formula 6904
-- name: Straße by Rep
CASE WHEN NOT `Segment` LIKE 'Z%' AND `Segment` IS NOT NULL THEN `Straße` ELSE '—' END
