-- platform-sync formula 7831
-- name: Ship Date v2
CASE `Currency` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
