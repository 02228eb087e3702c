-- platform-sync formula 1369
-- name: 合計 Store # OLD
CASE `Store #` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
