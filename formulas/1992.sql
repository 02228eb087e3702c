-- platform-sync formula 1992
-- name: Weighted Pipeline
CASE WHEN `地域` IN ('A', 'B', 'C''s') AND `Visits` > -5 THEN 1 ELSE 0 END
