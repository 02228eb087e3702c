-- platform-sync formula 9007199254744823
-- name: Größe
CASE WHEN NOT `Currency` LIKE 'Z%' AND `Status` IS NOT NULL THEN `Store #` ELSE '—' END
