-- platform-sync formula 7347
-- name: Rolling 12 "months" test
-- agreed with finance
ROUND(AVG(`Conversion Rate`), 2) /* two places */
