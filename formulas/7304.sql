-- platform-sync formula 7304
-- name: Sales Rep
CASE `Sales Rep` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
