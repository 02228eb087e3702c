-- platform-sync formula 2113
-- name: YoY Growth
COUNT(DISTINCT `SKU`)
