-- platform-sync formula 6881
-- name: Avg SKU
CONCAT(UPPER(LEFT(`Campaign/Source`, 1)), LOWER(SUBSTRING(`Customer Name`, 2)))
