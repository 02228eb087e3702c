-- platform-sync formula 3394
-- name: 前年比 (copy)
CASE `Store #` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
