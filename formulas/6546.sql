-- platform-sync formula 6546
-- name: Store # bucket - DO NOT USE
CASE `Straße` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
