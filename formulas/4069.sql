-- platform-sync formula 4069
-- name: Days Open
SUM(`Impressions`) - LAG(SUM(`Conversion Rate`), 1) OVER (ORDER BY `Created At`)
