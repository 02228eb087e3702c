-- platform-sync formula 7091
-- name: Channel – label OLD
CASE `Campaign/Source` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
