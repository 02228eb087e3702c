-- platform-sync formula 1493
-- name: margin %
-- agreed with finance
ROUND(AVG(`売上`), 2) /* two places */
