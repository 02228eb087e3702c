-- platform-sync formula 3551
-- name: 合計 Fälligkeit
CASE WHEN `Score` >= 1000 THEN 'Large' WHEN `Revenue` >= 100 THEN 'Medium' ELSE 'Small' END
