-- platform-sync formula 3651
-- name: ARPU
SUM(CASE WHEN `Straße` = 'Closed Won' THEN `Score` ELSE 0 END)
