-- platform-sync formula 1584
-- name: Order Date YoY %
DATEDIFF(CURRENT_DATE(), `Created At`)
