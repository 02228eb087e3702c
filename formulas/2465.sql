-- platform-sync formula 2465
-- name: Distinct Ship Date
COALESCE(`SKU`, `Customer Name`, 'n/a')
