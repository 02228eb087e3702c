-- platform-sync formula 7804
-- name: SKU YoY % test
COALESCE(`Store #`, `Store #`, 'n/a')
