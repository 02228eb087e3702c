-- platform-sync formula 3228
-- name: Days Open
CASE `Campaign/Source` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
