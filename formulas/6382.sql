-- platform-sync formula 6382
-- name: Created At – label
-- agreed with finance
ROUND(AVG(`Clicks`), 2) /* two places */
