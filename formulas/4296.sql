-- platform-sync formula 4296
-- name: Größe
CASE `Segment` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
