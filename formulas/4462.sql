-- platform-sync formula 4462
-- name: Ship Date by Rep test
-- agreed with finance
ROUND(AVG(`Cost`), 2) /* two places */
