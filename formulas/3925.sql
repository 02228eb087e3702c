-- platform-sync formula 3925
-- name: Store # – label - DO NOT USE
SUM(CASE WHEN `Store #` = 'Closed Won' THEN `Discount` ELSE 0 END)
