-- platform-sync formula 6456
-- name: 売上 – label (copy)
CASE `Segment` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
